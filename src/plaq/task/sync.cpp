#include "plaq/task/sync.hpp"

namespace plaq::task {

using detail::waiter;

void mutex::lock_slowly() noexcept {
  constexpr int spins = 40;  // longer than most critical sections, shorter than a wait
  int round = 0;
  for (;;) {
    std::uintptr_t word = word_.load(std::memory_order_relaxed);
    if (!(word & locked)) {
      if (word_.compare_exchange_weak(word, word | locked, std::memory_order_acquire)) return;
      continue;
    }
    if (round < spins || (word & list_locked)) {
      detail::back_off(round);
      continue;
    }
    if (!word_.compare_exchange_weak(word, word | list_locked, std::memory_order_acquire)) continue;
    // While the list is locked the owner cannot unlock, so the word is ours to store.
    waiter self;
    auto* head = reinterpret_cast<waiter*>(word & ~locked);
    if (head)
      head->tail->next = &self;
    else
      head = &self;
    head->tail = &self;
    word_.store(reinterpret_cast<std::uintptr_t>(head) | locked, std::memory_order_release);
    self.wait();
    round = 0;
  }
}

void mutex::unlock_slowly() noexcept {
  int round = 0;
  std::uintptr_t word = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (word == locked) {
      if (word_.compare_exchange_weak(word, 0, std::memory_order_release)) return;
    } else if (word & list_locked) {
      detail::back_off(round);
      word = word_.load(std::memory_order_relaxed);
    } else if (word_.compare_exchange_weak(word, word | list_locked, std::memory_order_acquire)) {
      break;
    }
  }
  auto* first = reinterpret_cast<waiter*>(word & ~locked);
  waiter* rest = first->next;
  if (rest) rest->tail = first->tail;
  word_.store(reinterpret_cast<std::uintptr_t>(rest), std::memory_order_release);
  first->wake();
}

void condition_variable::notify_one() noexcept {
  if (!any_.load(std::memory_order_relaxed)) return;
  std::lock_guard guard(guard_);
  if (waiter* first = waiting_.pop()) first->wake();
  any_.store(!waiting_.empty(), std::memory_order_relaxed);
}

void condition_variable::notify_all() noexcept {
  if (!any_.load(std::memory_order_relaxed)) return;
  std::lock_guard guard(guard_);
  while (waiter* first = waiting_.pop()) first->wake();
  any_.store(false, std::memory_order_relaxed);
}

void condition_variable::wait(std::unique_lock<mutex>& lock) noexcept {
  waiter self;
  {
    std::lock_guard guard(guard_);
    waiting_.push(self);
    any_.store(true, std::memory_order_relaxed);
  }
  lock.unlock();
  self.wait();
  lock.lock();
}

/// Returns false if it was notified.
template <class How>
bool condition_variable::wait_in_list(std::unique_lock<mutex>& lock, How how) noexcept {
  waiter self;
  {
    std::lock_guard guard(guard_);
    waiting_.push(self);
    any_.store(true, std::memory_order_relaxed);
  }
  lock.unlock();
  how(self);
  bool left;
  {
    std::lock_guard guard(guard_);  // notifications happen under the guard, so self is not used after this
    left = waiting_.remove(self);
    any_.store(!waiting_.empty(), std::memory_order_relaxed);
  }
  lock.lock();
  return left;
}

bool condition_variable::wait_notified(std::unique_lock<mutex>& lock, detail::clock::time_point deadline) noexcept {
  return !wait_in_list(lock, [&](waiter& self) { self.wait_until(deadline); });
}

void condition_variable::wait_or_stop(std::unique_lock<mutex>& lock, const std::stop_token& stop) noexcept {
  wait_in_list(lock, [&](waiter& self) {
    const std::stop_callback wake(stop, [&]() noexcept { self.wake(); });
    self.wait();
  });
}

}  // namespace plaq::task
