// Messages that call a handler where they arrive, and how to know that all have.
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

/// Active messages (von Eicken et al., 1992) between the ranks of a communicator; others' messages never meet
/// these. A handler runs as a task on the rank where its message arrives. Those of one sender and tag run one
/// after the other, in the order in which they were sent; all others may run at once. A handler may send, to its
/// own rank too, and may wait. Any thread and task may call.
///
/// The first error, a handler's or MPI's, is the job's: from then on no further handler of this rank begins, and
/// quiet() throws it on every rank.
class active_messages {
 public:
  static constexpr int last_tag = comm::last_tag - 1;

  /// Collective. Handlers run on `pool`, which outlives this.
  active_messages(const communicator& over, task::detail::pool_base& pool);
  /// Lets no further handler begin, stops stopping(), and waits for the handlers that are running, for nobody
  /// else. What is not handled by then is lost: quiet() comes before the end.
  ~active_messages();
  active_messages(const active_messages&) = delete;

  int rank() const;
  int size() const;

  /// Calls f(value, sender) for every message of this tag, those that have come already first. A message is packed
  /// and unpacked as a T. Throws input_error if the tag has a handler or cannot be.
  template <packable T, class F>
    requires std::invocable<F&, T, int>
  void on(task::task_name name, int tag, F f) {
    handle(name, tag,
           [f = std::move(f)](std::span<const std::byte> bytes, int sender) mutable { f(unpack<T>(bytes), sender); });
  }

  /// Returns at once; the value is packed now. A message whose tag has no handler yet waits for one, as long as
  /// quiet() allows. Throws input_error for a rank or tag that cannot be.
  template <packable T>
  void send(const T& value, int peer, int tag) {
    std::vector<std::byte> bytes;
    packing<T>::write(value, bytes);
    post(std::move(bytes), peer, tag);
  }

  /// Returns when all messages have been handled that any rank has sent before it called, and all that their handlers
  /// have sent, and so on. Collective; one thread or task of each rank calls, when the rank has its handlers. Throws
  /// runtime_failure, on all ranks, with rank, sender and tag of a handler that threw, or of messages that no handler
  /// takes when nothing else is left.
  void quiet();

  /// Stopped by the first error that this rank knows, and by the destructor. A handler that waits for what others
  /// send waits with it, `future.wait(a.stopping())`, since that may not come any more.
  std::stop_token stopping() const;
  /// What has not ended on this rank, in words, e.g. "visit, the handler of tag 3: 2 messages; send to rank 1".
  std::string under_way() const;

 private:
  using handler = std::function<void(std::span<const std::byte>, int)>;
  class implementation;
  void handle(task::task_name name, int tag, handler call);
  void post(std::vector<std::byte> bytes, int peer, int tag);

  std::unique_ptr<implementation> work_;
};

}  // namespace plaq::comm
