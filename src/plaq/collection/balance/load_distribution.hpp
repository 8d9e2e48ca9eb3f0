// Loads of elements and the ranks that they are on: input of balancers, and quality of their plans.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace plaq::balance {

/// Two elements that communicate; the weight counts bytes or messages.
struct edge {
  std::size_t a, b;
  double weight;
};

/// Rank of each element.
using plan = std::vector<int>;

/// Elements 0, 1, ... and the ranks that they are on. Arrays are as long as `loads`, or empty if not known. A balancer
/// that needs an empty one throws input_error.
struct load_distribution {
  int ranks = 1;
  std::vector<double> loads;       ///< >= 0, in seconds or in units of work
  plan rank_of;                    ///< ranks of the elements
  std::vector<double> sizes = {};  ///< bytes
  std::vector<edge> edges = {};
  std::vector<std::uint64_t> positions = {};                    ///< along a curve through the mesh; different
  std::vector<std::array<double, 3>> points = {};               ///< of the mesh
  double most_bytes = std::numeric_limits<double>::infinity();  ///< on a rank
  int ranks_per_node = 1;

  std::size_t size() const { return loads.size(); }
  double bytes_of(std::size_t i) const { return sizes.empty() ? 0 : sizes[i]; }
};

/// Bound of the sum of loads, sizes or weights, so that no balancer overflows.
inline constexpr double too_much = 1e300;
/// Throws input_error unless
/// @pre ranks and ranks_per_node are at least 1;
/// @pre arrays are as long as loads, or empty (rank_of is not);
/// @pre loads, sizes and weights are not negative, and their sums are below too_much;
/// @pre most_bytes is not negative;
/// @pre ranks in rank_of are 0 ... ranks - 1;
/// @pre ends of edges are elements;
/// @pre coordinates of points are finite.
void validate(const load_distribution& s);

/// Measures of a plan.
struct plan_quality {
  double highest = 0;  ///< load of a rank
  double mean = 0;     ///< of all ranks
  double largest = 0;  ///< load of an element
  double moved = 0;    ///< number of elements that move
  double moved_bytes = 0;
  double cut = 0;  ///< weight of the edges between ranks
  /// Imbalance I = max/mean - 1.
  double imbalance() const { return mean > 0 ? highest / mean - 1 : 0; }
  /// Lower bound of I, from the largest element alone.
  double floor() const { return mean > 0 && largest > mean ? largest / mean - 1 : 0; }
};
/// Returns the measures of a plan. @pre It has a rank for each element.
plan_quality evaluate(const load_distribution& s, const plan& to);

/// Load and bytes of each rank.
struct totals {
  totals(const load_distribution& s, const plan& to);
  void move(const load_distribution& s, std::size_t i, int from, int to);
  bool has_room(const load_distribution& s, std::size_t i, int rank) const;
  double highest() const;

  std::vector<double> load, bytes;
};

}  // namespace plaq::balance
