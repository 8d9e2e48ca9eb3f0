// When and how a collection balances its elements.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/balance/balancers.hpp"
#include "plaq/collection/letters.hpp"
#include "plaq/collection/load_record.hpp"

namespace plaq {

/// What the load of an element is, of its steps since the last balancing.
enum class load {
  time,  ///< processor time
  work   ///< what they count by here.work()
};

struct balancing {
  std::string by = "greedy_refine";  ///< see balance::balancers()
  double most_bytes = 0;             ///< of elements on a rank; 0: no limit
  int ranks_per_node = 1;            ///< for "hierarchical"
  /// Move only where it pays: if the slowest rank would have saved more time since the last balancing than what moves
  /// have cost for each byte so far. Loads have to be times.
  bool only_if_it_pays = false;
};

/// What came of it, the same on every rank.
struct balanced {
  double before = 0;     ///< I = max/mean - 1 over the ranks, as measured since the last balancing
  double predicted = 0;  ///< what it would have been with the new places
  double floor = 0;      ///< what it is at least, because of the largest element
  double moved = 0;      ///< elements
  double moved_bytes = 0;
  /// What the balancing before had predicted for the time that `before` is of; NaN at the first.
  double expected = std::numeric_limits<double>::quiet_NaN();
};
/// The same as a line: "I = 0.523 (0.041 was predicted), now 0.038 is, at least 0; 12 elements move, 1.2e+06 bytes".
std::string in_words(const balanced& what);

namespace elements {

/// An element as a balancing sees it.
struct report {
  double load = 0, bytes = 0;
  double seconds_per_byte = 0;  ///< of what its rank has moved so far
  int rank = 0;
  std::vector<std::pair<key, double>> sent = {};
  void serialize(archive& ar) { ar(load, bytes, seconds_per_byte, rank, sent); }
};
struct decision {
  balanced came_to = {};
  std::vector<std::pair<key, int>> moves = {};
  void serialize(archive& ar) { ar(came_to, moves); }
};

/// `point` is empty where elements lie on no mesh. Writes to `record` unless that is null.
decision decide(const std::vector<std::pair<key, report>>& all, const balancing& how, int ranks,
                const std::function<std::uint64_t(key)>& position,
                const std::function<std::array<double, 3>(key)>& point, load_record* record = nullptr);
/// The same of one rank's elements, where no rank knows all: what it begins with, and what it came to.
balance::talk talk_of(const std::vector<std::pair<key, report>>& mine, const balancing& how, int rank, int ranks);
decision decided(const balance::talk& by, const balancing& how);
/// Throws input_error for what cannot be asked for.
void need_sound(const balancing& how, load of, bool mesh);

}  // namespace elements
}  // namespace plaq
