// Active messages, which call a handler where they arrive, and their termination detection.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "plaq/comm/messages/messenger.hpp"
#include "plaq/task/name.hpp"
#include "plaq/task/pool.hpp"

namespace plaq::comm {

/// Active messages (von Eicken et al., 1992) between the ranks of a communicator, separate from other messages. A
/// handler runs as a task on the rank where its message arrives. Handlers of one sender and tag run one after the
/// other, in the order in which the messages were sent; all others may run at the same time. A handler may send, to its
/// own rank too, and may wait. Any thread and task may call.
///
/// After the first error, of a handler or of MPI, no further handler of this rank begins, and wait() throws the error
/// on every rank.
class active_messages {
 public:
  static constexpr int last_tag = comm::last_tag - 1;

  /// Makes active messages between the ranks of `over`. Collective. Handlers run on `pool`, which outlives this.
  active_messages(const communicator& over, task::detail::pool_base& pool);
  /// Begins no further handler, stops stopping(), and waits for the running handlers of this rank. Messages that are
  /// not handled are lost: call wait() before.
  ~active_messages();
  active_messages(const active_messages&) = delete;

  int rank() const;
  int size() const;

  /// Calls f(value, sender) for every message of this tag, earlier arrivals first. A message is packed and unpacked as
  /// a T.
  /// @pre 0 <= tag <= last_tag, and the tag has no handler (input_error).
  template <packable T, class F>
    requires std::invocable<F&, T, int>
  void on(task::task_name name, int tag, F f) {
    handle(name, tag,
           [f = std::move(f)](std::span<const std::byte> bytes, int sender) mutable { f(unpack<T>(bytes), sender); });
  }

  /// Removes the handlers of tags `first` ... `last`, which are not used again, and returns when none of them runs.
  /// Their messages that are not handled yet, and later ones, are dropped. A handler does not call.
  void remove(int first, int last);

  /// Sends a value, which is packed now, and returns at once. A message whose tag has no handler yet waits for one,
  /// until wait(). @pre 0 <= peer < size, 0 <= tag <= last_tag (input_error).
  template <packable T>
  void send(const T& value, int peer, int tag) {
    std::vector<std::byte> bytes;
    packing<T>::write(value, bytes);
    post(std::move(bytes), peer, tag);
  }

  /// Returns when all messages have been handled, and all that their handlers have sent, and so on. Collective; one
  /// thread or task of each rank calls, when the rank has its handlers. Throws runtime_failure, on all ranks, with
  /// rank, sender and tag of a handler that threw, or of messages without a handler.
  void wait();

  /// Token that the first error known to this rank stops, and the destructor. A handler that waits for other ranks
  /// waits with it, `future.wait(a.stopping())`, since their messages may not arrive after an error.
  std::stop_token stopping() const;
  /// Messages in progress on this rank, such as "visit, the handler of tag 3: 2 messages; send to rank 1".
  std::string in_progress() const;

 private:
  using handler = std::function<void(std::span<const std::byte>, int)>;
  class implementation;
  void handle(task::task_name name, int tag, handler call);
  void post(std::vector<std::byte> bytes, int peer, int tag);

  std::unique_ptr<implementation> work_;
};

}  // namespace plaq::comm
