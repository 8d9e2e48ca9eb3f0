// A bounded queue between tasks.
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
#include "plaq/task/made_by.hpp"

namespace plaq::task {

/// First in, first out; any number of tasks at both ends. Either end may close it, and an error on one side ends
/// the other: after close(error) what is still inside is dropped and push and pop throw the error.
template <Backend B, class T>
class channel {
 public:
  /// Throws input_error where capacity is 0.
  explicit channel(std::size_t capacity) : capacity_(capacity) {
    if (capacity == 0) throw input_error("a channel needs a capacity of at least 1");
  }
  channel(const channel&) = delete;

  /// Waits while the channel is full. False, and the value is lost, once it is closed. Throws cancelled, and the
  /// value is lost, where it would have to wait and the token is stopped. What moving the value throws comes out.
  [[nodiscard]] bool push(T value, std::stop_token stop = {}) {
    std::unique_lock lock(mutex_);
    const bool can = not_full_.wait(lock, std::move(stop), [&] { return closed_ || items_.size() < capacity_; });
    if (error_) std::rethrow_exception(error_);
    if (!can) throw cancelled();
    if (closed_) return false;
    try {
      items_.emplace_back(std::move(value), detail::maker());
    } catch (...) {
      not_full_.notify_one();  // the place stays free, and another may be waiting for it
      throw;
    }
    not_empty_.notify_one();
    return true;
  }

  /// Waits while the channel is empty. Nothing once it is closed and empty. Throws cancelled where it would have
  /// to wait and the token is stopped. What moving the value throws comes out, and the value is lost.
  std::optional<T> pop(std::stop_token stop = {}) {
    std::unique_lock lock(mutex_);
    const bool can = not_empty_.wait(lock, std::move(stop), [&] { return closed_ || !items_.empty(); });
    if (error_) std::rethrow_exception(error_);
    if (!can) throw cancelled();
    if (items_.empty()) return std::nullopt;
    detail::uses(items_.front().maker);
    struct taking {
      channel& self;
      ~taking() {
        self.items_.pop_front();
        self.not_full_.notify_one();
      }
    } at_end{*this};
    return std::optional<T>(std::move(items_.front().value));
  }

  /// No more values; what is inside can still be taken. Closing twice is no error.
  void close() noexcept {
    std::lock_guard lock(mutex_);
    close_locked();
  }

  /// Ends both sides with `error`; the first error stays.
  void close(std::exception_ptr error) noexcept {
    std::deque<item> dropped;  // destroyed after the lock
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    items_.swap(dropped);
    close_locked();
  }

  /// Runs work() as the one task at an end: closes the channel after it, with what it throws if it throws.
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
    item(T&& value, std::uint64_t maker) : value(std::move(value)), maker(maker) {}
    T value;
    std::uint64_t maker;
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
