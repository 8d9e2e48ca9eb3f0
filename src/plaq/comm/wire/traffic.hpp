// Counters of the messages and bytes of this process.
#pragma once
#include <cstddef>

namespace plaq::comm::traffic {

/// Counts a message between two ranks.
void count_sent(std::size_t bytes) noexcept;
/// Counts a receive from another rank, by the bytes of its buffer.
void count_received(std::size_t bytes) noexcept;
/// Counts a collective call, by the bytes of its input, or of its output if it works in place. Its messages are counted
/// too.
void count_collective(std::size_t bytes) noexcept;

}  // namespace plaq::comm::traffic
