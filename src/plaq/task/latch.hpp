// Latch: waits for a number of events.
#pragma once
#include <cstddef>
#include <mutex>

#include "plaq/base/error.hpp"
#include "plaq/task/backend.hpp"

namespace plaq::task {

/// Latch as std::latch. May be destroyed as soon as wait() has returned.
template <Backend B>
class latch {
 public:
  explicit latch(std::ptrdiff_t expected) : left_(expected) {}
  latch(const latch&) = delete;

  /// Counts n events.
  ///
  /// @pre n <= events that are still expected, else runtime_failure
  void count_down(std::ptrdiff_t n = 1) {
    std::lock_guard lock(mutex_);
    check(n <= left_, "a latch was counted below zero");
    if ((left_ -= n) == 0) zero_.notify_all();
  }
  bool try_wait() const {
    std::lock_guard lock(mutex_);
    return left_ == 0;
  }
  void wait() const {
    std::unique_lock lock(mutex_);
    zero_.wait(lock, [&] { return left_ == 0; });
  }
  void arrive_and_wait(std::ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }

 private:
  mutable typename B::mutex mutex_;
  mutable typename B::condition_variable zero_;
  std::ptrdiff_t left_;
};

}  // namespace plaq::task
