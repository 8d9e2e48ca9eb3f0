// Messages between ranks, as sessions record them: both ends of a message have the same identity.
#pragma once
#include <cstddef>
#include <cstdint>

#include "plaq/trace/hooks.hpp"

namespace plaq::trace {

/// Identity of a message, the same on both ranks: the wire that it travels on, its sender, receiver and tag there, and
/// its number among those messages. Messages of one identity match in the order of time.
struct message_id {
  std::uint32_t wire;
  int sender, receiver;  ///< below 2^24
  int tag;               ///< below 2^16
  std::uint32_t number;
};

namespace detail {
void message_sent(const message_id& id, std::size_t bytes) noexcept;
void message_received(const message_id& id, std::size_t bytes) noexcept;
}  // namespace detail

/// Records that this thread begins to send a message. To be called before MPI has it: the receiver may be quick.
inline void message_sent(const message_id& id, std::size_t bytes) noexcept {
  if (recording()) [[unlikely]]
    detail::message_sent(id, bytes);
}
/// Records that this thread has found that the message has arrived.
inline void message_received(const message_id& id, std::size_t bytes) noexcept {
  if (recording()) [[unlikely]]
    detail::message_received(id, bytes);
}

}  // namespace plaq::trace
