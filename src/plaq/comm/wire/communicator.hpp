// A group of ranks that owns what it needs to talk.
#pragma once
#include <memory>
#include <utility>

#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// A group of ranks, owned and move-only. What they say to each other goes by wires that are opened over it: by
/// `collectives` and `messenger`. Every call is collective: all ranks of the group make it, in the same order.
/// Errors: input_error for a color that cannot be, runtime_failure for what MPI reports. Threads may share a
/// communicator if they call one at a time.
class communicator {
 public:
  explicit communicator(std::unique_ptr<wire> over) : wire_(std::move(over)) {}

  int rank() const { return wire_->rank(); }
  int size() const { return wire_->size(); }

  /// The group of those that give the same color (>= 0), ordered by key, then by rank here.
  communicator split(int color, int key = 0) const;
  /// The group of those that share this machine's memory.
  communicator split_by_node() const { return communicator(wire_->split_by_node()); }

  /// A wire of one's own between these ranks.
  std::unique_ptr<wire> open_wire() const { return wire_->duplicate(); }

 private:
  std::unique_ptr<wire> wire_;  ///< carries no messages; others are made from it
};

}  // namespace plaq::comm
