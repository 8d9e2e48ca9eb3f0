// A message as a messenger keeps it, from the call that asks for it until whoever called is told.
#pragma once
#include <cstddef>
#include <exception>
#include <memory>
#include <string>

#include "plaq/comm/messages/match_table.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// A message that has come or gone.
struct status {
  int peer = -1;
  int tag = -1;
  std::size_t bytes = 0;
};

/// Messages that are here and that nobody has asked for.
struct unasked {
  std::size_t many = 0;
  int peer = 0, tag = 0;  ///< of the oldest
};

enum class message_end { send, receive };

/// One end of a message: a send or a receive.
class message : public matched {
 public:
  message(message_end call, int peer, int tag, const blocks& where = {})
      : matched{peer, tag}, call(call), where(where) {}
  virtual ~message() = default;
  /// Memory for so many bytes; its size differs if the message does not fit.
  virtual blocks room(std::size_t) { return where; }
  virtual void complete(const status& what) noexcept = 0;
  virtual void fail(std::exception_ptr why) noexcept = 0;

  void complete() noexcept { complete({peer, tag, where.bytes()}); }
  /// The error of this one on that rank: who, what, with whom and why.
  std::exception_ptr failure(int rank, const std::string& why) const;

  message_end call;
  blocks where;
  bool expected = false;  ///< posted, and pollers look for it
};

/// Takes all messages of a tag, whoever sends them.
class listener {
 public:
  /// For a message of `peer` that has come. Called in their order, under the messenger's lock: it neither waits nor
  /// calls the messenger.
  virtual std::unique_ptr<message> next(int peer) = 0;

 protected:
  ~listener() = default;
};

}  // namespace plaq::comm
