// Messenger: messages as futures. A task that waits releases its worker, and idle workers progress the messages.
#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plaq/comm/messages/explained_messages.hpp"
#include "plaq/comm/messages/message.hpp"
#include "plaq/comm/messages/packing.hpp"
#include "plaq/comm/wire/buffer.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/task/future.hpp"

namespace plaq::comm {

namespace detail {
class byte_window;
}  // namespace detail

/// Received object and its sender.
template <class T>
struct received_object {
  int peer;
  T value;
};

/// View of `count` blocks of `length` values that begin `stride` values apart, e.g. a column of a matrix.
template <class T>
struct strided {
  T* first = nullptr;
  std::size_t count = 0;
  std::size_t length = 1;
  std::size_t stride = 1;
};

/// Messages between the ranks of a communicator. Any thread and task may call at any time. Buffers belong to the
/// message until its future is ready. They may be memory of NVIDIA GPUs, whose contents are complete when the call is
/// made. Messages of one rank to another with one tag arrive in order. A message of a rank to itself is complete when
/// it has been received. Failures are in the future: a runtime_failure that names rank, call and peer.
/// @pre of all calls: 0 <= peer < size, or any_rank for a receive; 0 <= tag <= last_tag (input_error).
class messenger : private explained_messages {
 public:
  using explained_messages::isend, explained_messages::irecv, explained_messages::isend_object;

  /// Makes a messenger between the ranks of `over`, with separate messages. Collective.
  explicit messenger(const communicator& over);
  /// Fails messages that are in progress.
  ~messenger();
  messenger(const messenger&) = delete;

  int rank() const;
  int size() const;

  /// Sends the values of a buffer.
  template <lasting_buffer R>
  task::future<status> isend(R&& values, int peer, int tag = 0) {
    return send(as_blocks(std::as_bytes(std::span(values))), peer, tag);
  }
  /// Receives the next message of `peer` with this tag, or of any rank (any_rank; the status has the sender). A message
  /// of another size than `values` is a failure.
  template <lasting_buffer R>
  task::future<status> irecv(R&& values, int peer, int tag = 0) {
    return receive(as_blocks(std::as_writable_bytes(std::span(values))), peer, tag);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  task::future<status> isend(const strided<T>& values, int peer, int tag = 0) {
    return send(as_blocks(values), peer, tag);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  task::future<status> irecv(const strided<T>& values, int peer, int tag = 0) {
    return receive(as_blocks(values), peer, tag);
  }
  /// Sends any value that `packing` knows. It is packed now.
  template <packable T>
  task::future<status> isend_object(const T& value, int peer, int tag = 0) {
    std::vector<std::byte> bytes;
    packing<T>::write(value, bytes);
    return send(std::move(bytes), peer, tag);
  }
  template <packable T>
  task::future<T> irecv_object(int peer, int tag = 0);
  /// Receives an object of any rank.
  template <packable T>
  task::future<received_object<T>> irecv_object_of_any(int tag = 0);

  /// Send that is prepared once and started often, as MPI's persistent requests.
  /// @pre The future of the last start is ready before the next one, and before the end; the messenger outlives it.
  class persistent_send {
   public:
    task::future<status> start();
    ~persistent_send();
    persistent_send(persistent_send&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)),
          what_(other.what_),
          prepared_(other.prepared_),
          peer_(other.peer_),
          tag_(other.tag_) {}

   private:
    friend class messenger;
    persistent_send(messenger& of, const blocks& what, int peer, int tag);
    messenger* of_;
    blocks what_;
    wire::handle prepared_ = wire::nothing;
    int peer_, tag_;
  };
  template <lasting_buffer R>
  persistent_send prepare_send(R&& values, int peer, int tag = 0) {
    return persistent_send(*this, as_blocks(std::as_bytes(std::span(values))), peer, tag);
  }

  /// Receive that is described once and started often. @pre As of persistent_send.
  class persistent_receive {
   public:
    task::future<status> start() { return of_->receive(what_, peer_, tag_); }

   private:
    friend class messenger;
    persistent_receive(messenger& of, const blocks& what, int peer, int tag)
        : of_(&of), what_(what), peer_(peer), tag_(tag) {}
    messenger* of_;
    blocks what_;
    int peer_, tag_;
  };
  template <lasting_buffer R>
  persistent_receive prepare_receive(R&& values, int peer, int tag = 0) {
    return persistent_receive(*this, as_blocks(std::as_writable_bytes(std::span(values))), peer, tag);
  }

  /// Waits for all futures, at most for `timeout`. Then it throws a runtime_failure with the messages in progress and
  /// their peers. Nothing is cancelled: the futures stay valid.
  template <class Rep, class Period>
  void wait_for(std::span<const task::future<status>> futures, std::chrono::duration<Rep, Period> timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (const auto& future : futures)
      if (future.wait_for(deadline - std::chrono::steady_clock::now()) != std::future_status::ready)
        throw_late(std::chrono::duration<double>(timeout).count());
  }
  /// Messages in progress, such as "receive from ranks 0, 3; send to rank 1".
  std::string in_progress() const;

 private:
  friend class active_messages;
  friend class detail::byte_window;
  static blocks as_blocks(std::span<const std::byte> bytes) {
    return {const_cast<std::byte*>(bytes.data()), bytes.size(), 1, bytes.size()};  // what is sent is only read
  }
  template <class T>
  static blocks as_blocks(const strided<T>& v) {
    if (v.count > 1 && v.stride < v.length) throw input_error("blocks of a strided message overlap");
    auto* first = const_cast<std::remove_const_t<T>*>(v.first);
    return {reinterpret_cast<std::byte*>(first), v.length * sizeof(T), v.count, v.stride * sizeof(T)};
  }

  task::future<status> send(const blocks& from, int peer, int tag);
  task::future<status> send(std::vector<std::byte> bytes, int peer, int tag);
  task::future<status> receive(const blocks& to, int peer, int tag);
  void send(std::unique_ptr<message> what);
  void receive(std::unique_ptr<message> object);
  /// Passes messages of a tag to a listener, earlier ones too, until ignore(). @pre The tag has no listener
  /// (input_error).
  void listen(int tag, listener& to);
  void ignore(int tag);
  /// Messages without a receive, with tags 0 ... last.
  unexpected_messages unexpected(int last) const;
  [[noreturn]] void throw_late(double seconds) const;

  class implementation;
  std::unique_ptr<implementation> work_;
};

namespace detail {

/// Message of any length that becomes an object: a T, or a received_object<T>.
template <class T, class Result>
class object final : public message {
 public:
  object(int peer, int tag) : message(message_end::receive, peer, tag) {}
  blocks room(std::size_t size) override {
    bytes_.resize(size);
    return {bytes_.data(), size, 1, size};
  }
  void complete(const status& what) noexcept override {
    try {
      if constexpr (std::is_same_v<T, Result>)
        promise.set_value(unpack<T>(bytes_));
      else
        promise.set_value(Result{what.peer, unpack<T>(bytes_)});
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }
  void fail(std::exception_ptr why) noexcept override { promise.set_exception(std::move(why)); }

  task::promise<Result> promise;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace detail

template <packable T>
task::future<T> messenger::irecv_object(int peer, int tag) {
  auto fresh = std::make_unique<detail::object<T, T>>(peer, tag);
  auto result = fresh->promise.get_future();
  receive(std::move(fresh));
  return result;
}

template <packable T>
task::future<received_object<T>> messenger::irecv_object_of_any(int tag) {
  auto fresh = std::make_unique<detail::object<T, received_object<T>>>(any_rank, tag);
  auto result = fresh->promise.get_future();
  receive(std::move(fresh));
  return result;
}

}  // namespace plaq::comm
