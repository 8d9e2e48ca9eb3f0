// One wait of a task or of a thread outside of the pools. All primitives are built on it, so that they work between any
// two.
#pragma once
#include <atomic>

#include "plaq/task/gate.hpp"
#include "plaq/task/job.hpp"

namespace plaq::task::detail {

class waiter {
 public:
  waiter() noexcept;
  waiter(const waiter&) = delete;

  /// Returns once wake() was called, before or after. A task gives its worker away meanwhile, a thread polls (see
  /// poller.hpp) or sleeps.
  void wait() noexcept;
  /// Returns at wake() or at the deadline, whichever comes first, without telling them apart.
  void wait_until(clock::time_point deadline) noexcept;
  /// Wakes the waiter; may be called repeatedly while it lives.
  void wake() noexcept;

  waiter* next = nullptr;  ///< of the list that it is in
  waiter* tail = nullptr;  ///< last of the list, kept in its first

 private:
  void wait_as_thread(clock::time_point deadline) noexcept;
  bool sleep_until(clock::time_point deadline) noexcept;

  job* job_;
  gate* gate_;  // of the thread, where there is no job
  std::atomic<wait_state> state_{wait_state::awake};
};

/// FIFO list of waiters.
class waiter_list {
 public:
  bool empty() const noexcept { return !head_; }
  void push(waiter& w) noexcept;
  waiter* pop() noexcept;
  /// Removes `w`; returns false if it is not in the list.
  bool remove(waiter& w) noexcept;

 private:
  waiter* head_ = nullptr;
};

/// Lock for short critical sections that never wait inside.
class spin_lock {
 public:
  void lock() noexcept {
    if (taken_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      wait();
  }
  bool try_lock() noexcept {
    return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  void wait() noexcept;
  std::atomic<bool> taken_{false};
};

/// Waits a moment, which grows with the number of calls with the same counter; finally yields the core.
void back_off(int& round) noexcept;

}  // namespace plaq::task::detail
