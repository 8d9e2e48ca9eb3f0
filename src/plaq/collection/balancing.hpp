// Balancing of a collection: options, result, and the decision on one rank.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/balance/balancers.hpp"
#include "plaq/collection/index.hpp"
#include "plaq/collection/load_record.hpp"
#include "plaq/collection/runtime/reductions.hpp"

namespace plaq {

/// Load of an element, of its steps since the last balancing.
enum class load {
  time,  ///< processor time
  work   ///< counted by context.work()
};

/// Options of a balancing.
struct balance_options {
  std::string by = "greedy_refine";  ///< see balance::balancers()
  double most_bytes = 0;             ///< of elements on a rank; 0: no limit
  int ranks_per_node = 1;            ///< for "hierarchical"
  /// Move only where it pays: if the slowest rank would have saved more time since the last balancing than the moves
  /// cost, by the cost of each byte so far. Loads have to be times.
  bool only_if_it_pays = false;
};

/// Result of a balancing, the same on every rank.
struct balance_result {
  double before = 0;     ///< I = max/mean - 1 over the ranks, as measured since the last balancing
  double predicted = 0;  ///< I of the new plan for these loads
  double floor = 0;      ///< lower bound of I, from the largest element
  double moved = 0;      ///< number of elements that move
  double moved_bytes = 0;
  /// Prediction of the previous balancing for `before`; NaN at the first.
  double expected = std::numeric_limits<double>::quiet_NaN();
};
/// Returns a line such as "I = 0.523 (0.041 was predicted), now 0.038 is, at least 0; 12 elements move, 1.2e+06 bytes".
std::string in_words(const balance_result& what);

namespace elements {

/// Report of an element for a balancing.
struct element_report {
  double load = 0, bytes = 0;
  double seconds_per_byte = 0;  ///< cost of the moves of its rank so far
  int rank = 0;
  std::vector<std::pair<key, double>> sent = {};
  void serialize(archive& ar) { ar(load, bytes, seconds_per_byte, rank, sent); }
};
/// Reports of elements, each with the key of its element.
using element_reports = std::vector<std::pair<key, element_report>>;
/// Elements of a rank that move, and where.
struct migration {
  balance_result result = {};
  std::vector<std::pair<key, int>> moves = {};
};
/// Elements of all ranks that move, by the rank that they leave.
struct migration_plan {
  balance_result result = {};
  std::map<int, std::vector<std::pair<key, int>>> moves = {};
};
/// Returns the result, packed for all ranks, and the moves of each rank, packed for it.
reductions::outcome packed_by_rank(const migration_plan& what);

/// Returns the migration by a balancer that knows all loads. `point` is empty where elements lie on no mesh. Writes to
/// `record` unless it is null.
migration_plan plan_migration(const element_reports& all, const balance_options& options, int ranks,
                              const std::function<std::uint64_t(key)>& position,
                              const std::function<std::array<double, 3>(key)>& point, load_record* record = nullptr);
/// Returns the initial state of a rank in a balancing protocol, from the reports of its elements.
balance::participant make_participant(const element_reports& own, const balance_options& options, int rank, int ranks);
/// Returns the migration of the elements of a rank, from its state at the end.
migration migration_of(const balance::participant& by, const balance_options& options);
/// Throws input_error unless
/// @pre `by` is a balancer, and elements lie on a mesh if it needs points;
/// @pre most_bytes >= 0, ranks_per_node >= 1;
/// @pre loads are times if only_if_it_pays.
void validate(const balance_options& options, load of, bool mesh);

}  // namespace elements
}  // namespace plaq
