// One wait of a task or of a thread outside of the pools. All primitives are built on it, so they work between any
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

  /// Returns once wake() was called, before or after. A task gives its worker away meanwhile, a thread polls
  /// (see poller.hpp) or sleeps.
  void wait() noexcept;
  /// Returns at wake() or at the deadline, whichever comes first; does not say which.
  void wait_until(clock::time_point deadline) noexcept;
  /// May be called more than once as long as the waiter lives.
  void wake() noexcept;

  waiter* next = nullptr;  ///< for the list it stands in
  waiter* tail = nullptr;  ///< last of the list, kept in its first

 private:
  void wait_as_thread(clock::time_point deadline) noexcept;
  bool doze(clock::time_point deadline) noexcept;

  job* job_;
  gate* gate_;  // of the thread, where there is no job
  std::atomic<wait_state> state_{wait_state::awake};
};

/// First in, first out.
class waiter_list {
 public:
  bool empty() const noexcept { return !head_; }
  void push(waiter& w) noexcept;
  waiter* pop() noexcept;
  /// False where `w` is not in the list.
  bool remove(waiter& w) noexcept;

 private:
  waiter* head_ = nullptr;
};

/// Short critical sections that never wait inside.
class spin_lock {
 public:
  void lock() noexcept;
  bool try_lock() noexcept {
    return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

/// Waits a moment, the longer the more often it was called with the same counter; in the end gives the core away.
void back_off(int& round) noexcept;

}  // namespace plaq::task::detail
