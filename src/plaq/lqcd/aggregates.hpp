// Aggregates of a lattice: equal boxes of sites, which are the sites of a coarser one.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "plaq/lqcd/engine.hpp"
#include "plaq/lqcd/field.hpp"

namespace plaq::lqcd {

/// Extents of aggregates as near to four sites as it goes with an even number of them in every direction.
coordinates aggregates_for(const coordinates& extents);

/// A rank's aggregates, which do not cross its edges, by parity on the coarse lattice: the even ones first. The sites
/// of one lie next to each other, its even ones first, in the order of their coordinates: a slot is a site's number
/// in that order. It is the same for any layout, and within an aggregate for any ranks.
class aggregates {
 public:
  /// input_error where aggregates do not fit into the boxes of ranks, or their number in some direction is odd.
  aggregates(std::shared_ptr<const layout> where, const coordinates& box);

  const std::shared_ptr<const layout>& where() const { return where_; }
  const coordinates& box() const { return box_; }  ///< extents of an aggregate
  std::int64_t sites() const { return product(box_); }
  std::int64_t count() const { return std::int64_t(neighbour_.size()); }
  /// How many of each parity of the coarse lattice, and the first of them.
  std::int64_t count(int parity) const { return parity ? count() - even_ : even_; }
  std::int64_t first(int parity) const { return parity ? even_ : 0; }

  /// Of an aggregate, its first slot, and the first with an odd site.
  std::int64_t slots(std::int64_t a) const { return a * sites(); }
  std::int64_t odd_slots(std::int64_t a) const { return slots(a) + even_sites_[a]; }
  layout::place place(std::int64_t slot) const { return places_[slot]; }
  const coordinates& site(std::int64_t slot) const { return sites_[slot]; }  ///< local coordinates
  /// The slot of the site at these local coordinates.
  std::int64_t slot(const coordinates& local) const { return slots_[number_in(local, where_->on().local())]; }

  /// The aggregate ahead (2 mu) or behind (2 mu + 1). With another rank it is number -1 - this of what comes from
  /// there.
  std::int64_t neighbour(std::int64_t a, int d) const { return neighbour_[a][d]; }
  /// numbers[slot][24] = f(slot's site); of odd sites alone for a field that has no others, as the other way.
  void gather(engine& by, const spinors<float>& f, std::vector<float>& numbers) const;
  void scatter(engine& by, const std::vector<float>& numbers, spinors<float>& f) const;

  /// For those of `directions` that lead to other ranks: `pack(a, to)` of all aggregates of a coarse parity that
  /// are wanted there, `size` numbers each; what comes from direction d goes to came[d]. Collective.
  template <class Pack>
  void exchange(engine& by, const std::vector<int>& directions, int parity, std::size_t size, Pack&& pack,
                std::array<std::vector<float>, neighbours>& came) const;

 private:
  std::shared_ptr<const layout> where_;
  coordinates box_;
  std::int64_t even_ = 0;
  std::vector<layout::place> places_;
  std::vector<coordinates> sites_;
  std::vector<std::int64_t> slots_, even_sites_, slot_in_block_;
  std::vector<std::array<std::int64_t, neighbours>> neighbour_;
  /// By direction and coarse parity: which the rank on the other side wants as neighbours in this direction, and how
  /// many this one wants.
  std::array<std::array<std::vector<std::int64_t>, 2>, neighbours> wanted_;
  std::array<std::array<std::size_t, 2>, neighbours> wants_{};
};

template <class Pack>
void aggregates::exchange(engine& by, const std::vector<int>& directions, int parity, std::size_t size, Pack&& pack,
                          std::array<std::vector<float>, neighbours>& came) const {
  std::array<task::future<comm::status>, neighbours> coming;
  std::array<std::vector<float>, neighbours> sent;
  std::vector<task::future<comm::status>> going;
  const auto peer = [&](int d, bool there) {
    return where_->on().neighbour_rank(d / 2, (d % 2 == 0) == there ? 1 : -1);
  };
  for (const int d : directions) {
    if (!where_->is_cut(d / 2)) continue;
    came[d].resize(wants_[d][parity] * size);
    coming[d] = by.messages.irecv(std::span(came[d]), peer(d, true), d);
  }
  for (const int d : directions) {
    if (!where_->is_cut(d / 2)) continue;
    const auto& list = wanted_[d][parity];
    sent[d].resize(list.size() * size);
    for (std::size_t i = 0; i < list.size(); ++i) pack(list[i], sent[d].data() + i * size);
    going.push_back(by.messages.isend(std::span(sent[d]), peer(d, false), d));
  }
  for (auto& c : coming)
    if (c.valid()) c.get();
  for (auto& g : going) g.get();
}

}  // namespace plaq::lqcd
