#include "plaq/task/waiter.hpp"

#include <algorithm>
#include <optional>
#include <thread>

#include "plaq/base/pause.hpp"
#include "plaq/task/doorbell.hpp"
#include "plaq/task/poller.hpp"

namespace plaq::task::detail {

namespace {
constinit thread_local job* running = nullptr;

constexpr std::uint64_t id_block = 256;  ///< ids that a thread takes at once
std::atomic<std::uint64_t> last_block{0};
constinit thread_local std::uint64_t last_id = 0;  ///< of this thread; a multiple of id_block at the end of a block

gate* gate_of_thread() {
  thread_local gate own;
  return &own;
}
}  // namespace

job* current() noexcept { return running; }
void set_current(job* now) noexcept { running = now; }

job::identity job::next_identity() noexcept {
  if (last_id % id_block == 0) last_id = id_block * last_block.fetch_add(1, std::memory_order_relaxed);
  return {++last_id, running ? running->id : 0};
}

waiter::waiter() noexcept : job_(current()), gate_(job_ ? nullptr : gate_of_thread()) {}

void waiter::wait() noexcept {
  if (state_.load(std::memory_order_acquire) == wait_state::woken) return;
  if (!job_) return wait_as_thread(clock::time_point::max());
  // An event that is here already needs no switch.
  if (poll_once() && state_.load(std::memory_order_acquire) == wait_state::woken) return;
  job_->home.suspend(*job_, state_);
}

void waiter::wait_until(clock::time_point deadline) noexcept {
  if (!job_) return wait_as_thread(deadline);
  if (deadline == clock::time_point::max()) return wait();
  timer& alarm = job_->home.alarm();
  alarm.add(deadline, *this);
  wait();
  alarm.remove(deadline, *this);
}

void waiter::wait_as_thread(clock::time_point deadline) noexcept {
  std::optional<std::uint32_t> armed;  // the doorbell, before the last poll
  const auto sleep_at_bell = [&](clock::time_point until) {
    auto expected = wait_state::awake;
    if (!state_.compare_exchange_strong(expected, wait_state::asleep)) return true;
    if (doorbell::wait_at(*gate_, *armed, until)) return true;
    expected = wait_state::asleep;
    if (state_.compare_exchange_strong(expected, wait_state::awake)) return false;
    gate_->wait();  // it is being opened right now
    return true;
  };
  for (pace pace; anything_expected();) {
    if (state_.load(std::memory_order_acquire) == wait_state::woken) return;
    if (poll_once()) {
      pace.again();
      armed.reset();
      continue;
    }
    if (!armed && !any_pool()) {  // a pool has workers that sleep at the bell
      if (pace.wait() && deadline == clock::time_point::max()) continue;
      armed = doorbell::arm();
      continue;
    }
    const auto now = clock::now();
    const auto until = std::min(deadline, now + pace.sleep_time());
    if (now >= deadline || (armed ? sleep_at_bell(until) : sleep_until(until))) return;
    if (armed) armed = doorbell::arm();
  }
  sleep_until(deadline);
}

/// Sleeps; returns false at the deadline.
bool waiter::sleep_until(clock::time_point deadline) noexcept {
  auto expected = wait_state::awake;
  if (!state_.compare_exchange_strong(expected, wait_state::asleep)) return true;
  if (deadline == clock::time_point::max()) {
    gate_->wait();
    return true;
  }
  if (gate_->wait_until(deadline)) return true;
  expected = wait_state::asleep;
  if (state_.compare_exchange_strong(expected, wait_state::awake)) return false;
  gate_->wait();  // it is being opened right now
  return true;
}

void waiter::wake() noexcept {
  // Once woken, a waiter that was not asleep may be destroyed.
  job* const sleeper = job_;
  gate* const closed = gate_;
  if (state_.exchange(wait_state::woken, std::memory_order_acq_rel) != wait_state::asleep) return;
  if (sleeper)
    sleeper->home.resume(*sleeper);
  else
    doorbell::open(*closed);
}

void waiter_list::push(waiter& w) noexcept {
  w.next = nullptr;
  if (head_) {
    head_->tail->next = &w;
  } else {
    head_ = &w;
  }
  head_->tail = &w;
}

waiter* waiter_list::pop() noexcept {
  waiter* first = head_;
  if (first) {
    head_ = first->next;
    if (head_) head_->tail = first->tail;
  }
  return first;
}

bool waiter_list::remove(waiter& w) noexcept {
  if (head_ == &w) return pop() != nullptr;
  for (waiter* before = head_; before; before = before->next)
    if (before->next == &w) {
      before->next = w.next;
      if (head_->tail == &w) head_->tail = before;
      return true;
    }
  return false;
}

/// Locks it once it is free.
void spin_lock::wait() noexcept {
  int round = 0;
  do
    while (taken_.load(std::memory_order_relaxed)) back_off(round);
  while (taken_.exchange(true, std::memory_order_acquire));
}

void back_off(int& round) noexcept {
  if (++round > 40)
    std::this_thread::yield();
  else
    pause_core();
}

}  // namespace plaq::task::detail
