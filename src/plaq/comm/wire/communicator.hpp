// Communicator: a group of ranks.
#pragma once
#include <memory>
#include <utility>

#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

struct group_layout;

/// Group of ranks, move-only. Its messages go by wires opened over it: by `collectives` and `messenger`. Every call is
/// collective: all ranks of the group make it, in the same order. Errors of MPI are runtime_failures. Threads may share
/// a communicator if they call one at a time.
class communicator {
 public:
  explicit communicator(std::unique_ptr<wire> over) : wire_(std::move(over)) {}

  int rank() const { return wire_->rank(); }
  int size() const { return wire_->size(); }

  /// Makes the group of ranks that give the same color, ordered by key, then by rank here. @pre color >= 0
  /// (input_error).
  communicator split(int color, int key = 0) const;
  /// Makes the group of ranks that share the memory of this machine.
  communicator split_by_node() const { return communicator(wire_->split_by_node()); }

  /// Makes a wire between these ranks, whose messages are separate.
  std::unique_ptr<wire> open_wire() const { return wire_->duplicate(); }

 private:
  friend class collectives;
  std::unique_ptr<wire> wire_;                          ///< carries no messages; others are made from it
  mutable std::shared_ptr<const group_layout> layout_;  ///< of the first collectives, for those that follow
};

}  // namespace plaq::comm
