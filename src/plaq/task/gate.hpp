// Gate at which a kernel thread sleeps until another thread opens it, once.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace plaq::task::detail {

using clock = std::chrono::steady_clock;

class gate {
 public:
  /// Sleeps until open() was called, before or after, and closes again.
  void wait() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return open_; });
    open_ = false;
  }

  /// Passes as wait() does, but returns false at once if it is closed.
  bool try_wait() {
    std::lock_guard lock(mutex_);
    return std::exchange(open_, false);
  }

  /// Waits as wait() does, but gives up at `deadline` and then returns false.
  bool wait_until(clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (!opened_.wait_until(lock, deadline, [&] { return open_; })) return false;
    open_ = false;
    return true;
  }

  /// Notifies under the lock: the thread that wakes may destroy the gate.
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

}  // namespace plaq::task::detail
