// Bounded queue between tasks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/task/backend.hpp"
#include "plaq/task/cancelled.hpp"
#include "plaq/task/producer.hpp"

namespace plaq::task {

/// FIFO queue with any number of tasks at both ends. Either end may close it, and an error on one side ends the other:
/// after close(error) the remaining items are dropped, and push and pop throw the error.
template <Backend B, class T>
class channel {
 public:
  /// Makes an empty channel.
  ///
  /// @pre capacity > 0, else input_error
  explicit channel(std::size_t capacity) : capacity_(capacity) {
    if (capacity == 0) throw input_error("a channel needs a capacity of at least 1");
  }
  channel(const channel&) = delete;

  /// Waits while the channel is full. Returns false, and the value is lost, once it is closed. Throws cancelled, and
  /// the value is lost, if it would have to wait and the token is stopped. Exceptions of the value's move pass.
  [[nodiscard]] bool push(T value, std::stop_token stop = {}) {
    std::unique_lock lock(mutex_);
    const bool can = not_full_.wait(lock, std::move(stop), [&] { return closed_ || items_.size() < capacity_; });
    if (error_) std::rethrow_exception(error_);
    if (!can) throw cancelled();
    if (closed_) return false;
    try {
      items_.emplace_back(std::move(value), detail::current_producer());
    } catch (...) {
      not_full_.notify_one();  // the place stays free, and another may be waiting for it
      throw;
    }
    not_empty_.notify_one();
    return true;
  }

  /// Waits while the channel is empty. Returns nothing once it is closed and empty. Throws cancelled if it would have
  /// to wait and the token is stopped. Exceptions of the value's move pass, and the value is lost.
  std::optional<T> pop(std::stop_token stop = {}) {
    std::unique_lock lock(mutex_);
    const bool can = not_empty_.wait(lock, std::move(stop), [&] { return closed_ || !items_.empty(); });
    if (error_) std::rethrow_exception(error_);
    if (!can) throw cancelled();
    if (items_.empty()) return std::nullopt;
    detail::record_use(items_.front().producer);
    struct taking {
      channel& self;
      ~taking() {
        self.items_.pop_front();
        self.not_full_.notify_one();
      }
    } at_end{*this};
    return std::optional<T>(std::move(items_.front().value));
  }

  /// Closes the channel: remaining values can still be taken. Closing twice is no error.
  void close() noexcept {
    std::lock_guard lock(mutex_);
    close_locked();
  }

  /// Closes both sides with `error`; the first error stays.
  void close(std::exception_ptr error) noexcept {
    std::deque<item> dropped;  // destroyed after the lock
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    items_.swap(dropped);
    close_locked();
  }

  /// Runs work() as the one task at an end: closes the channel after it, with its exception if it throws.
  template <class F>
  decltype(auto) close_after(F&& work) {
    struct closing {
      channel& self;
      ~closing() { self.close(); }
    } at_end{*this};
    try {
      return std::forward<F>(work)();
    } catch (...) {
      close(std::current_exception());
      throw;
    }
  }

 private:
  struct item {
    item(T&& value, std::uint64_t producer) : value(std::move(value)), producer(producer) {}
    T value;
    std::uint64_t producer;
  };

  void close_locked() noexcept {
    closed_ = true;
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  const std::size_t capacity_;
  typename B::mutex mutex_;
  typename B::condition_variable not_empty_, not_full_;
  std::deque<item> items_;
  bool closed_ = false;
  std::exception_ptr error_;
};

}  // namespace plaq::task
