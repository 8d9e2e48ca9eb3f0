// Window: memory of every rank that others write into, and notifications of what they have written.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

#include "plaq/comm/messages/message.hpp"
#include "plaq/comm/wire/buffer.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/task/future.hpp"

namespace plaq::comm {

namespace detail {

/// Window of bytes.
class byte_window {
 public:
  byte_window(const communicator& over, std::span<std::byte> own);
  ~byte_window();

  int rank() const;
  int size() const;
  task::future<status> put(std::span<const std::byte> bytes, int peer, std::size_t offset, int notification);
  task::future<void> notified(int notification, std::size_t count);

 private:
  class implementation;
  std::unique_ptr<implementation> work_;
};

}  // namespace detail

/// Memory of this rank that other ranks write into without a receive: one-sided communication with notified access
/// (Belli, Hoefler 2015). A put names the place and a number; the rank that is written to waits for notifications of
/// this number, and then has the values. Any thread and task may call. It uses messages, so that it needs neither
/// MPI's one-sided calls nor their synchronisation, and the memory may be any of the host. Short puts are copied once
/// at each end, others land in place.
template <class T>
  requires std::is_trivially_copyable_v<T>
class window {
 public:
  /// Opens `own` to the ranks of `over`. Collective. The memory outlives the window.
  /// @pre The same length on all ranks (input_error on all).
  window(const communicator& over, std::span<T> own) : bytes_(over, std::as_writable_bytes(own)), length_(own.size()) {}

  int rank() const { return bytes_.rank(); }
  int size() const { return bytes_.size(); }

  /// Writes the values to places `at`, `at` + 1, ... of a rank, this one too, and notifies it. The future is ready when
  /// `values` may be changed. Puts may arrive in any order.
  /// @pre 0 <= peer < size, the places exist, notification >= 0 (input_error).
  template <lasting_buffer R>
    requires std::same_as<std::ranges::range_value_t<R>, T>
  task::future<status> put(R&& values, int peer, std::size_t at, int notification = 0) {
    return bytes_.put(std::as_bytes(std::span(values)), peer, at * sizeof(T), notification);
  }

  /// Returns a future that is ready when `count` puts with this number have arrived, beside those that earlier calls
  /// wait for. Their values are then in place, and no later put is counted. Fails where messages do.
  /// @pre notification >= 0 (input_error).
  task::future<void> notified(int notification = 0, std::size_t count = 1) {
    return bytes_.notified(notification, count);
  }

  /// Number of values of each rank.
  std::size_t length() const { return length_; }

 private:
  detail::byte_window bytes_;
  std::size_t length_;
};

}  // namespace plaq::comm
