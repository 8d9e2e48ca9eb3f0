// plaq._core.collection: balancers, for recorded loads.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/collection/balance/balancers.hpp"
#include "plaq/collection/hilbert.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace balance = plaq::balance;

namespace {

template <class T>
using array_1d = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using array_2d = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> copied(const array_1d<T>& a) {
  return {a.data(), a.data() + a.size()};
}

balance::load_distribution make_distribution(int ranks, const array_1d<double>& loads, const array_1d<int>& rank_of,
                                             const array_1d<double>& sizes, const array_2d<std::uint64_t>& ends,
                                             const array_1d<double>& weights, const array_1d<std::uint64_t>& positions,
                                             const array_2d<double>& points, double most_bytes, int ranks_per_node) {
  if (ends.shape(0) != weights.size() || (ends.size() > 0 && ends.shape(1) != 2))
    throw plaq::input_error("balance: edges have two ends and a weight");
  if (points.size() > 0 && points.shape(1) != 3) throw plaq::input_error("balance: points have three coordinates");
  balance::load_distribution s{.ranks = ranks, .loads = copied(loads), .rank_of = copied(rank_of)};
  s.sizes = copied(sizes);
  for (std::size_t k = 0; k < weights.size(); ++k) s.edges.push_back({ends(k, 0), ends(k, 1), weights(k)});
  s.positions = copied(positions);
  for (std::size_t i = 0; points.size() > 0 && i < points.shape(0); ++i)
    s.points.push_back({points(i, 0), points(i, 1), points(i, 2)});
  s.most_bytes = most_bytes;
  s.ranks_per_node = ranks_per_node;
  validate(s);
  return s;
}

/// Returns a copy of the plan. Throws input_error unless it has a rank for each element.
balance::plan validated(const balance::load_distribution& s, const array_1d<int>& to) {
  if (to.size() != s.size() ||
      std::any_of(to.data(), to.data() + to.size(), [&](int r) { return r < 0 || r >= s.ranks; }))
    throw plaq::input_error("balance: a plan has a rank for each element");
  return copied(to);
}

template <int N>
std::vector<std::uint64_t> curve_positions(const array_2d<int>& points, const array_1d<int>& extent) {
  std::array<int, N> all, at;
  std::copy_n(extent.data(), N, all.begin());
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < points.shape(0); ++i) {
    for (std::size_t d = 0; d < N; ++d) {
      at[d] = points(i, d);
      if (at[d] < 0 || at[d] >= all[d]) throw plaq::input_error("a point lies outside of the box");
    }
    out.push_back(plaq::elements::hilbert_position(at, all));
  }
  return out;
}

/// Returns a numpy array that owns the values.
template <class T>
auto owned(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

}  // namespace

void bind_collection(nb::module_& m) {
  nb::class_<balance::load_distribution>(m, "LoadDistribution",
                                         "Loads of elements; see plaq/collection/balance/load_distribution.hpp.")
      .def(
          "__init__",
          [](balance::load_distribution* self, int ranks, const array_1d<double>& loads, const array_1d<int>& rank_of,
             const array_1d<double>& sizes, const array_2d<std::uint64_t>& ends, const array_1d<double>& weights,
             const array_1d<std::uint64_t>& positions, const array_2d<double>& points, double most_bytes,
             int ranks_per_node) {
            new (self) balance::load_distribution(make_distribution(ranks, loads, rank_of, sizes, ends, weights,
                                                                    positions, points, most_bytes, ranks_per_node));
          },
          "ranks"_a, "loads"_a, "rank_of"_a, "sizes"_a, "ends"_a, "weights"_a, "positions"_a, "points"_a,
          "most_bytes"_a, "ranks_per_node"_a)
      .def(
          "evaluate",
          [](const balance::load_distribution& s, const array_1d<int>& to) { return evaluate(s, validated(s, to)); },
          "to"_a)
      .def(
          "loads_of_ranks",
          [](const balance::load_distribution& s, const array_1d<int>& to) {
            return owned(std::move(balance::totals(s, validated(s, to)).load));
          },
          "to"_a)
      .def(
          "plan",
          [](const balance::load_distribution& s, const std::string& by) {
            balance::plan to;
            {
              nb::gil_scoped_release released;
              to = balance::balancer_named(by).call(s);
            }
            return owned(std::move(to));
          },
          "by"_a, "Return the rank of each element by this balancer.");
  nb::class_<balance::plan_quality>(m, "PlanQuality", "Measures of a plan.")
      .def_ro("highest", &balance::plan_quality::highest)
      .def_ro("mean", &balance::plan_quality::mean)
      .def_ro("largest", &balance::plan_quality::largest)
      .def_ro("moved", &balance::plan_quality::moved)
      .def_ro("moved_bytes", &balance::plan_quality::moved_bytes)
      .def_ro("cut", &balance::plan_quality::cut)
      .def_prop_ro("imbalance", &balance::plan_quality::imbalance)
      .def_prop_ro("floor", &balance::plan_quality::floor);
  m.def(
      "hilbert_positions",
      [](const array_2d<int>& points, const array_1d<int>& extent) {
        if (points.shape(1) != extent.size()) throw plaq::input_error("points and extent have different dimensions");
        switch (extent.size()) {
          case 1: return owned(curve_positions<1>(points, extent));
          case 2: return owned(curve_positions<2>(points, extent));
          case 3: return owned(curve_positions<3>(points, extent));
          default: throw plaq::input_error("points have 1 to 3 dimensions");
        }
      },
      "points"_a, "extent"_a,
      "Return the number of points of a box before each point (n, dimensions) on the Hilbert curve.");
  m.def(
      "balancers",
      [] {
        std::vector<std::tuple<std::string, bool, bool, bool>> out;
        for (const auto& b : balance::balancers())
          out.emplace_back(b.name, b.needs_positions, b.needs_points, b.protocol != nullptr);
        return out;
      },
      "Return (name, needs positions, needs points, is a protocol of ranks) of each balancer.");
}
