// Collective algorithms as pure functions: (operation, rank, ranks, root, bytes, method) -> schedule.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plaq/comm/schedules/node_map.hpp"
#include "plaq/comm/schedules/schedule.hpp"

namespace plaq::comm {

/// Collective operation, with what it reads -> writes.
enum class collective {
  broadcast,       ///< output of root -> output
  reduce,          ///< inputs -> output of root
  scatter,         ///< input of root, block r -> output of rank r
  gather,          ///< inputs -> output of root, block r
  all_reduce,      ///< outputs -> output
  all_gather,      ///< inputs -> output, block r
  all_to_all,      ///< input of s, block r -> output of r, block s
  reduce_scatter,  ///< inputs, blocks r -> output of rank r
  barrier,         ///< one byte without meaning -> output
  inclusive_scan,  ///< outputs of ranks 0 ... r -> output
  exclusive_scan   ///< outputs of ranks 0 ... r - 1 -> output; rank 0 keeps its output
};

/// Communication pattern of a collective operation; algorithms_for() has those of each operation.
enum class algorithm {
  tree,       ///< a range of ranks is cut into `arity` parts with a leader each; arity >= ranks is flat
  chain,      ///< a tree with at most `arity` children of each rank: for long messages in segments; scans: from
              ///< neighbour to neighbour
  butterfly,  ///< blocks of ranks exchange with their `arity` - 1 siblings, round by round
  halving,    ///< reduce-scatter by recursive halving, then all-gather by recursive doubling
  ring,       ///< blocks travel around the ring of ranks
  direct,     ///< each rank sends to every other; in a reduction each rank combines its share of the values
  bruck,      ///< blocks travel by the digits of their distance, to base `arity`
  doubling    ///< scans: the distance doubles in every round
};

/// Method of a collective operation.
struct method {
  algorithm how = algorithm::tree;
  int arity = 2;
  std::size_t segment = 0;  ///< bytes of a message in tree and chain; 0: all at once
  bool operator==(const method&) const = default;
};

/// Collective operation that is asked for.
struct request {
  collective what = collective::barrier;
  int root = 0;
  std::size_t bytes = 0;  ///< of one rank's block, a multiple of `grain`
  std::size_t grain = 1;  ///< bytes that are not separated: one number
  bool fixed_order = false;
  /// Reductions by tree or chain in a fixed order: the contributions of rank r are first_piece[r] ...
  /// first_piece[r + 1] - 1, which lie one after the other in its input, `bytes` each. Empty: one for each rank.
  std::span<const std::int64_t> first_piece = {};
  /// Gathers and scatters by tree, reduce_scatter: the block of rank r is bytes first_byte[r] ... first_byte[r + 1] - 1
  /// of all blocks, and `bytes` what a block has on average. Empty: every block has `bytes`.
  std::span<const std::size_t> first_byte = {};
};

/// Returns the algorithms for an operation; the first is good for short messages on few ranks.
std::vector<algorithm> algorithms_for(collective what);
/// Returns whether the algorithm keeps the fixed order on this number of ranks.
bool keeps_fixed_order(collective what, algorithm how, int ranks);
/// Returns whether the algorithm of a gather, scatter or reduce_scatter takes `first_byte`.
bool takes_blocks_of_any_length(collective what, algorithm how);

/// Name of an operation, such as "all_reduce".
std::string_view name_of(collective what);
/// Name of an algorithm, such as "butterfly".
std::string_view name_of(algorithm how);
/// Returns the operation or algorithm of a name. Throws input_error that lists the names.
collective collective_named(std::string_view name);
/// Returns the algorithm of a name. Throws input_error that lists the names.
algorithm algorithm_named(std::string_view name);

/// Returns the steps of `rank`. All other arguments are the same on all ranks.
/// @pre 0 <= root < ranks, the arity is at least 2 (chain: 1), the operation has the algorithm, and the algorithm keeps
/// a fixed order that is asked for (input_error).
/// @pre bytes is a multiple of grain; pieces go by trees, blocks of different lengths by algorithms that take
/// them (runtime_failure).
schedule make_schedule(const request& wanted, const method& by, const node_map& map, int rank);

}  // namespace plaq::comm
