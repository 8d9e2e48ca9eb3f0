// What a balancer knows, and what comes of its answer.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace plaq::balance {

/// Two elements that talk, and how much: bytes, or messages.
struct edge {
  std::size_t a, b;
  double weight;
};

/// Elements 0, 1, ... and the ranks that they are on. Arrays of the elements are as long as `loads`, or empty where
/// nobody knows; who needs one that is empty throws input_error.
struct situation {
  int ranks = 1;
  std::vector<double> loads;       ///< >= 0, in seconds or in units of work
  std::vector<int> where;          ///< the rank that each is on
  std::vector<double> sizes = {};  ///< bytes
  std::vector<edge> edges = {};
  std::vector<std::uint64_t> positions = {};                    ///< along a curve through the mesh; different
  std::vector<std::array<double, 3>> points = {};               ///< of the mesh
  double most_bytes = std::numeric_limits<double>::infinity();  ///< on a rank
  int ranks_per_node = 1;

  std::size_t size() const { return loads.size(); }
  double bytes_of(std::size_t i) const { return sizes.empty() ? 0 : sizes[i]; }
};

/// For each element its rank.
using plan = std::vector<int>;

/// Bound of the sum of loads, sizes or weights, so that no balancer comes near the end of what doubles can be.
inline constexpr double too_much = 1e300;
/// Throws input_error that says what is wrong with a situation: lengths, ranks, numbers that are negative, too large or
/// none.
void need_sound(const situation& s);

struct outcome {
  double highest = 0;  ///< load of a rank
  double mean = 0;     ///< of all ranks
  double largest = 0;  ///< load of an element
  double moved = 0;    ///< elements
  double moved_bytes = 0;
  double cut = 0;  ///< weight of the edges between ranks
  /// I = max/mean - 1, and what it is at least: that of the largest element alone.
  double imbalance() const { return mean > 0 ? highest / mean - 1 : 0; }
  double floor() const { return mean > 0 && largest > mean ? largest / mean - 1 : 0; }
};
outcome judge(const situation& s, const plan& to);

/// Load and bytes of each rank.
struct totals {
  totals(const situation& s, const plan& to);
  void move(const situation& s, std::size_t i, int from, int to);
  bool has_room(const situation& s, std::size_t i, int rank) const;
  double highest() const;

  std::vector<double> load, bytes;
};

}  // namespace plaq::balance
