// Termination detection among ranks that send each other work.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "plaq/comm/messages/messenger.hpp"

namespace plaq::comm {

/// Counts of a rank so far. A message is counted once by its sender, and once by its receiver: as handled, or as left
/// as long as no handler takes it.
struct counts {
  std::uint64_t sent = 0, handled = 0, left = 0;
  std::string error;  ///< the first
  std::string which;  ///< description of the messages left

  std::uint64_t ended() const { return handled + left; }
  void add(const counts& other);
};

/// Returns when no message is in progress on any rank, with the first error of all ranks or "". Messages left at that
/// time are an error too. `count` returns the counts of this rank, once for each wave. Collective; messages of this tag
/// belong to it. See four_counters.
std::string wait_for_termination(messenger& over, int tag, const std::function<counts()>& count);

}  // namespace plaq::comm
