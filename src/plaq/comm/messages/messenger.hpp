// Messages as futures: a task that waits for one gives its worker away, and idle workers move the messages on.
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

#include "plaq/comm/messages/message.hpp"
#include "plaq/comm/messages/packing.hpp"
#include "plaq/comm/wire/buffer.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/task/future.hpp"

namespace plaq::comm {

/// An object that has come, and from whom.
template <class T>
struct sent {
  int peer;
  T value;
};

/// `count` blocks of `length` values that begin `stride` values apart, e.g. a column of a matrix.
template <class T>
struct strided {
  T* first = nullptr;
  std::size_t count = 0;
  std::size_t length = 1;
  std::size_t stride = 1;
};

/// Messages over a communicator's ranks. Any thread and any task may call at any time. All buffers belong to the
/// message until its future is ready; they may be memory of NVIDIA's GPUs, where what is sent is there when the
/// call is made (its stream has been waited for). Messages of one rank to another with one tag arrive in their
/// order; a rank may send to itself, and that message has gone when it has been received. The future carries every
/// failure: a runtime_failure that names rank, call and peer. Wrong arguments throw input_error at once.
class messenger {
 public:
  /// Collective over the ranks of `over`, whose own messages never meet these.
  explicit messenger(const communicator& over);
  /// Messages that are still under way end with an error.
  ~messenger();
  messenger(const messenger&) = delete;

  int rank() const;
  int size() const;

  template <lasting_buffer R>
  task::future<status> isend(R&& values, int peer, int tag = 0) {
    return send(as_blocks(std::as_bytes(std::span(values))), peer, tag);
  }
  /// The next message of `peer` with this tag, or of whichever rank sends first where that is any_rank: the status
  /// tells. It must have the size of `values`.
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
  /// Any value that `packing` knows. It is packed now.
  template <packable T>
  task::future<status> isend_object(const T& value, int peer, int tag = 0) {
    std::vector<std::byte> bytes;
    packing<T>::write(value, bytes);
    return send(std::move(bytes), peer, tag);
  }
  template <packable T>
  task::future<T> irecv_object(int peer, int tag = 0);
  /// From whichever rank sends first, and who that is.
  template <packable T>
  task::future<sent<T>> irecv_object_of_any(int tag = 0);

  /// A send that is prepared once and started often, MPI's persistent request. Not to be started again, nor to be
  /// destroyed, before the last start's future is ready; and to be destroyed before the messenger.
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

  /// Waits for all of them together, but no longer than `patience`: then a runtime_failure says what of this
  /// messenger is under way still, with the ranks that are missing. Nothing is given up: the futures stay valid.
  template <class Rep, class Period>
  void wait_for(std::span<const task::future<status>> futures, std::chrono::duration<Rep, Period> patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (const auto& future : futures)
      if (future.wait_for(deadline - std::chrono::steady_clock::now()) != std::future_status::ready)
        late(std::chrono::duration<double>(patience).count());
  }
  /// What is under way, in words, e.g. "receive from ranks 0, 3; send to rank 1".
  std::string under_way() const;

 private:
  friend class active_messages;
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
  /// From here on, and for what has come already, until it is ignored. Throws input_error if somebody listens
  /// already.
  void listen(int tag, listener& to);
  void ignore(int tag);
  /// Of tags 0 ... last.
  unasked nobody_asked_for(int last) const;
  [[noreturn]] void late(double seconds) const;

  class implementation;
  std::unique_ptr<implementation> work_;
};

namespace detail {

/// A message of any length that becomes an object: a T, or a sent<T>.
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
        made.set_value(unpack<T>(bytes_));
      else
        made.set_value(Result{what.peer, unpack<T>(bytes_)});
    } catch (...) {
      made.set_exception(std::current_exception());
    }
  }
  void fail(std::exception_ptr why) noexcept override { made.set_exception(std::move(why)); }

  task::promise<Result> made;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace detail

template <packable T>
task::future<T> messenger::irecv_object(int peer, int tag) {
  auto fresh = std::make_unique<detail::object<T, T>>(peer, tag);
  auto result = fresh->made.get_future();
  receive(std::move(fresh));
  return result;
}

template <packable T>
task::future<sent<T>> messenger::irecv_object_of_any(int tag) {
  auto fresh = std::make_unique<detail::object<T, sent<T>>>(any_rank, tag);
  auto result = fresh->made.get_future();
  receive(std::move(fresh));
  return result;
}

}  // namespace plaq::comm
