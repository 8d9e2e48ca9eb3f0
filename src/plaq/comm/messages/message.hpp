// Message of a messenger, from the call until its completion.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "plaq/comm/messages/match_table.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Status of a completed message.
struct status {
  int peer = -1;
  int tag = -1;
  std::size_t bytes = 0;
};

/// Number of messages that have arrived without a receive, and the oldest.
struct unexpected_messages {
  std::size_t count = 0;
  int peer = 0, tag = 0;  ///< of the oldest
};

enum class message_end { send, receive };

/// End of a message: a send or a receive.
class message : public matched {
 public:
  message(message_end call, int peer, int tag, const blocks& where = {})
      : matched{peer, tag}, call(call), where(where) {}
  virtual ~message() = default;
  /// Returns memory for that many bytes; its size differs if the message does not fit.
  virtual blocks room(std::size_t) { return where; }
  virtual void complete(const status& what) noexcept = 0;
  virtual void fail(std::exception_ptr why) noexcept = 0;

  void complete() noexcept { complete({peer, tag, where.bytes()}); }
  /// Returns the error of this end on a rank: call, peer, tag and reason.
  std::exception_ptr failure(int rank, const std::string& why) const;

  message_end call;
  blocks where;
  bool expected = false;     ///< posted, and pollers look for it
  std::uint32_t number = 0;  ///< among those of its sender to its receiver
};

/// Listener that takes all messages of a tag, of any sender.
class listener {
 public:
  /// Returns the receive for a message of `peer` that has arrived. Called in their order, with the messenger's lock: it
  /// neither waits nor calls the messenger.
  virtual std::unique_ptr<message> next(int peer) = 0;

 protected:
  ~listener() = default;
};

}  // namespace plaq::comm
