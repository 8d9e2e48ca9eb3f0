// Copies of fields to other layouts and precisions.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/field.hpp"

namespace plaq::lqcd {

/// Places in a layout of the sites of each group of another one, from tables.
class places_in {
 public:
  places_in(const site_layout& layout, const site_layout& groups_of);

  /// Computes where the sites of a group, one for each lane, are.
  void of(std::int64_t group, std::array<site_layout::location, site_layout::max_lanes>& places) const;
  /// Number of neighbouring lanes that are neighbours in the layout, too: the same for all groups.
  int run() const { return run_; }

 private:
  struct part {
    std::int64_t site;
    int lane;
  };
  const site_layout &layout_, &groups_of_;
  std::array<std::vector<part>, 4> parts_;
  std::array<coordinates, site_layout::max_lanes> origins_{};
  int run_ = 1;
};

/// Copies groups first ... end - 1 of `to`, counted from its first one, whose lanes are in runs of `Run`.
template <int Run, class To, class From, class Convert>
void copy_runs(const From& from, To& to, const places_in& places, std::int64_t first, std::int64_t end,
               Convert&& convert) {
  const int n = to.lanes(), m = from.lanes();
  std::array<site_layout::location, site_layout::max_lanes> at;
  for (std::int64_t b = to.first_group() + first; b < to.first_group() + end; ++b) {
    places.of(b, at);
    auto* out = to.group(b);
    for (int l = 0; l < n; l += Run) {
      const auto* in = from.group(at[l].group) + at[l].lane;
      for (int i = 0; i < From::reals; ++i)
        for (int k = 0; k < Run; ++k) out[i * n + l + k] = convert(in[i * m + k]);
    }
  }
}

/// Copies a part of a field, groups first ... end - 1 of `to` counted from its first one.
template <class To, class From, class Convert>
void copy_groups(const From& from, To& to, const places_in& places, std::int64_t first, std::int64_t end,
                 Convert&& convert) {
  if (from.lanes() == to.lanes()) {
    const auto size = std::size_t(From::reals) * std::size_t(to.lanes());
    for (std::size_t i = std::size_t(first) * size; i < std::size_t(end) * size; ++i)
      to.data()[i] = convert(from.data()[i]);
    return;
  }
  if (places.run() >= 8) return copy_runs<8>(from, to, places, first, end, convert);
  if (places.run() == 4) return copy_runs<4>(from, to, places, first, end, convert);
  if (places.run() == 2) return copy_runs<2>(from, to, places, first, end, convert);
  copy_runs<1>(from, to, places, first, end, convert);
}

/// Throws unless both fields have the same sites.
void check_copy(const site_layout& from, sites from_subset, const site_layout& to, sites to_subset);

/// Copies a field to another layout or precision, with `convert` applied to each number.
template <class To, class From, int Reals, class Convert>
void copy(const field<From, Reals>& from, field<To, Reals>& to, Convert&& convert) {
  check_copy(from.layout(), from.subset(), to.layout(), to.subset());
  copy_groups(from, to, places_in(from.layout(), to.layout()), 0, to.groups(), convert);
}
template <class To, class From, int Reals>
void copy(const field<From, Reals>& from, field<To, Reals>& to) {
  copy(from, to, [](From x) { return To(x); });
}

/// Copies a field by all workers.
template <class To, class From, int Reals>
void copy(context& ctx, const field<From, Reals>& from, field<To, Reals>& to) {
  check_copy(from.layout(), from.subset(), to.layout(), to.subset());
  const places_in places(from.layout(), to.layout());
  ctx.workers.parallel_for("copy", std::size_t(to.groups()), [&](std::size_t first, std::size_t end) {
    copy_groups(from, to, places, std::int64_t(first), std::int64_t(end), [](From x) { return To(x); });
  });
}

/// Copies the sites of a parity that both fields have, of one layout and precision, by all workers.
template <class T, int Reals>
void copy_parity(context& ctx, const field<T, Reals>& from, field<T, Reals>& to, int parity) {
  check(from.layout().lanes() == to.layout().lanes() && from.has(parity) && to.has(parity),
        "a copy of sites that a field does not have");
  const auto size = std::size_t(Reals) * std::size_t(to.lanes());
  ctx.workers.parallel_for("copy", std::size_t(to.layout().half()), [&](std::size_t first, std::size_t end) {
    std::copy_n(from.of(parity) + first * size, (end - first) * size, to.of(parity) + first * size);
  });
}

}  // namespace plaq::lqcd
