// Aggregates of a lattice: equal boxes of sites, which are the sites of a coarse lattice.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/lattice.hpp"
#include "plaq/lqcd/lattice/layout.hpp"

namespace plaq::lqcd {

/// Returns extents of aggregates as near to four sites as possible with an even number of aggregates in every
/// direction.
coordinates choose_aggregates(const coordinates& extents);

/// Partition of a rank's sites into aggregates, which do not cross its edges. Aggregates of even parity on the coarse
/// lattice come first. The sites of an aggregate are contiguous, even ones first, in the order of their coordinates. A
/// slot is a site's index in this order, which within an aggregate does not depend on ranks. Sites are those of a
/// lattice, or the aggregates of a finer partition.
class aggregation {
 public:
  /// Throws input_error if aggregates do not fit into the boxes of ranks, or their number in some direction is odd.
  aggregation(const lattice& on, const coordinates& box) : aggregation(on, on.extents, box) {}
  aggregation(const aggregation& finer, const coordinates& box) : aggregation(finer.on_, finer.aggregates(), box) {}

  const coordinates& box() const { return box_; }                ///< extents of an aggregate
  const coordinates& local() const { return local_; }            ///< extents of a rank's box, in sites
  const coordinates& aggregates() const { return aggregates_; }  ///< aggregates of all ranks in each direction
  std::int64_t sites() const { return product(box_); }
  std::int64_t count() const { return std::int64_t(neighbour_.size()); }
  /// Number of aggregates of a parity on the coarse lattice, and the first of them.
  std::int64_t count(int parity) const { return parity ? count() - even_ : even_; }
  std::int64_t first(int parity) const { return parity ? even_ : 0; }

  /// First slot of an aggregate, and its first slot with an odd site.
  std::int64_t slots(std::int64_t a) const { return a * sites(); }
  std::int64_t odd_slots(std::int64_t a) const { return slots(a) + even_sites_[a]; }
  const coordinates& site(std::int64_t slot) const { return sites_[slot]; }  ///< local coordinates
  /// Slot of the site at these local coordinates, and the aggregate at these local coordinates of the coarse lattice.
  std::int64_t slot(const coordinates& local) const { return slots_[index_in(local, local_)]; }
  std::int64_t aggregate(const coordinates& c) const { return number_[index_in(c, coarse_)]; }

  /// Aggregate ahead (d = 2 mu) or behind (2 mu + 1). A negative n is aggregate -1 - n received from another rank.
  std::int64_t neighbour(std::int64_t a, int d) const { return neighbour_[a][d]; }

  /// Exchanges numbers of boundary aggregates of a coarse parity with other ranks in these directions: `pack(a, to)`
  /// writes the `size` numbers of an aggregate; received[d] gets those from direction d. Collective.
  template <class Pack>
  void exchange(context& ctx, const std::vector<int>& directions, int parity, std::size_t size, Pack&& pack,
                std::array<std::vector<float>, neighbours>& received) const;

 private:
  aggregation(const lattice& on, const coordinates& extents, const coordinates& box);
  bool is_cut(int mu) const { return on_.grid[mu] > 1; }

  lattice on_;
  coordinates box_, local_, aggregates_, coarse_;  ///< coarse_: a rank's aggregates in each direction
  std::int64_t even_ = 0;
  std::vector<coordinates> sites_;
  std::vector<std::int64_t> slots_, even_sites_, number_;
  std::vector<std::array<std::int64_t, neighbours>> neighbour_;
  /// Aggregates that the rank on the opposite side needs as neighbours in a direction, by direction and coarse parity,
  /// and the number that this rank needs.
  std::array<std::array<std::vector<std::int64_t>, 2>, neighbours> boundary_aggregates_;
  std::array<std::array<std::size_t, 2>, neighbours> received_counts_{};
};

template <class Pack>
void aggregation::exchange(context& ctx, const std::vector<int>& directions, int parity, std::size_t size, Pack&& pack,
                           std::array<std::vector<float>, neighbours>& received) const {
  std::array<task::future<comm::status>, neighbours> receives;
  std::array<std::vector<float>, neighbours> send_buffers;
  std::vector<task::future<comm::status>> sends;
  const auto peer = [&](int d, bool ahead) { return on_.neighbour_rank(d / 2, (d % 2 == 0) == ahead ? 1 : -1); };
  for (const int d : directions) {
    if (!is_cut(d / 2)) continue;
    received[d].resize(received_counts_[d][parity] * size);
    receives[d] = ctx.messages.irecv(std::span(received[d]), peer(d, true), d);
  }
  for (const int d : directions) {
    if (!is_cut(d / 2)) continue;
    const auto& list = boundary_aggregates_[d][parity];
    send_buffers[d].resize(list.size() * size);
    for (std::size_t i = 0; i < list.size(); ++i) pack(list[i], send_buffers[d].data() + i * size);
    sends.push_back(ctx.messages.isend(std::span(send_buffers[d]), peer(d, false), d));
  }
  for (auto& receive : receives)
    if (receive.valid()) receive.get();
  for (auto& send : sends) send.get();
}

}  // namespace plaq::lqcd
