// mutex and condition_variable with the standard's names and rules, for tasks and for threads outside of the pools.
#pragma once
#include <atomic>
#include <chrono>
#include <concepts>
#include <condition_variable>  // std::cv_status
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <utility>

#include "plaq/task/deadline.hpp"
#include "plaq/task/waiter.hpp"

namespace plaq::task {

/// Mutex for tasks: a waiting task gives its worker away. Not recursive, not fair. May be destroyed as soon as it is
/// not held.
class mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() noexcept {
    std::uintptr_t expected = 0;
    if (!word_.compare_exchange_weak(expected, locked, std::memory_order_acquire, std::memory_order_relaxed))
      lock_slowly();
  }
  bool try_lock() noexcept {
    std::uintptr_t word = word_.load(std::memory_order_relaxed);
    while (!(word & locked))
      if (word_.compare_exchange_weak(word, word | locked, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    return false;
  }
  void unlock() noexcept {
    std::uintptr_t expected = locked;
    if (!word_.compare_exchange_strong(expected, 0, std::memory_order_release, std::memory_order_relaxed))
      unlock_slowly();
  }

 private:
  void lock_slowly() noexcept;
  void unlock_slowly() noexcept;

  // One word: the first waiter, whether the mutex is locked, whether the list of waiters is being changed. So
  // the store that unlocks is the last touch, and the next owner may destroy the mutex.
  static constexpr std::uintptr_t locked = 1, list_locked = 2;
  std::atomic<std::uintptr_t> word_{0};
};

/// Condition variable that waits on a std::unique_lock<task::mutex>.
class condition_variable {
 public:
  condition_variable() = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  void notify_one() noexcept;
  void notify_all() noexcept;

  void wait(std::unique_lock<mutex>& lock) noexcept;
  template <class Predicate>
  void wait(std::unique_lock<mutex>& lock, Predicate done) {
    while (!done()) wait(lock);
  }
  /// Overload for locks that do not fit.
  template <class Lock, class... Rest>
    requires(!std::convertible_to<Lock&, std::unique_lock<mutex>&>)
  void wait(Lock&, Rest&&...) {
    constexpr bool fits = sizeof(Lock) == 0;
    static_assert(fits, "a condition_variable of tasks waits on a std::unique_lock<task::mutex>");
  }

  /// Waits until done() or until the token is stopped; returns done().
  template <class Predicate>
  bool wait(std::unique_lock<mutex>& lock, std::stop_token stop, Predicate done) {
    while (!stop.stop_requested()) {
      if (done()) return true;
      wait_or_stop(lock, stop);
    }
    return done();
  }

  /// Waits until that moment of any clock at the latest.
  template <class Clock, class Duration>
  std::cv_status wait_until(std::unique_lock<mutex>& lock, std::chrono::time_point<Clock, Duration> when) {
    const bool notified = detail::wait_by(when, [&](auto deadline) { return wait_notified(lock, deadline); });
    return notified ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  /// Waits until done() or until that moment; returns done().
  template <class Clock, class Duration, class Predicate>
  bool wait_until(std::unique_lock<mutex>& lock, std::chrono::time_point<Clock, Duration> when, Predicate done) {
    while (!done())
      if (wait_until(lock, when) == std::cv_status::timeout) return done();
    return true;
  }
  /// Waits at most that long.
  template <class Rep, class Period>
  std::cv_status wait_for(std::unique_lock<mutex>& lock, std::chrono::duration<Rep, Period> time) {
    return wait_until(lock, detail::deadline_after(time));
  }
  /// Waits until done() or until the time is over; returns done().
  template <class Rep, class Period, class Predicate>
  bool wait_for(std::unique_lock<mutex>& lock, std::chrono::duration<Rep, Period> time, Predicate done) {
    return wait_until(lock, detail::deadline_after(time), std::move(done));
  }

 private:
  void wait_or_stop(std::unique_lock<mutex>& lock, const std::stop_token& stop) noexcept;
  /// Returns false if it gave up at the deadline.
  bool wait_notified(std::unique_lock<mutex>& lock, detail::clock::time_point deadline) noexcept;
  template <class How>
  bool wait_in_list(std::unique_lock<mutex>& lock, How how) noexcept;

  detail::spin_lock guard_;
  detail::waiter_list waiting_;
  std::atomic<bool> any_{false};
};

}  // namespace plaq::task
