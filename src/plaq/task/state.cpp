#include "plaq/task/state.hpp"

namespace plaq::task::detail {

continuation state_base::there{nullptr}, state_base::changing{nullptr};

namespace {

struct wake_up : continuation {
  explicit wake_up(state_base* (*how)(continuation&) noexcept) : continuation{how} {}
  waiter self;
  std::atomic<bool> called{false};
};

}  // namespace

/// Replaces the list by `next` and returns it. If the result is ready, returns only a mark of that.
continuation* state_base::replace_list(continuation* next) noexcept {
  continuation* list = nullptr;
  int round = 0;
  while (!list_.compare_exchange_weak(list, next, std::memory_order_acq_rel, std::memory_order_acquire)) {
    if (list == &there) break;
    if (list == &changing) {
      back_off(round);
      list = nullptr;
    }
  }
  return list;
}

bool state_base::attach(continuation& c) noexcept {
  continuation* list = replace_list(&changing);
  if (list == &there) return false;
  c.next = list;
  list_.store(&c, std::memory_order_release);
  return true;
}

bool state_base::detach(continuation& c) noexcept {
  continuation* list = replace_list(&changing);
  if (list == &there) return false;
  continuation** link = &list;
  while (*link != &c) link = &(*link)->next;
  *link = c.next;
  list_.store(list, std::memory_order_release);
  return true;
}

/// Publishes the result; returns its continuations, the oldest first.
continuation* state_base::publish() noexcept {
  continuation* last = replace_list(&there);
  continuation* first = nullptr;
  while (last) first = std::exchange(last, std::exchange(last->next, first));
  return first;
}

/// Publishes the result, and calls the continuations.
void state_base::complete_and_continue() noexcept {
  continuation* first = publish();
  while (first) {
    continuation& now = *std::exchange(first, first->next);
    state_base* const follows = now.call(now);  // now may be gone
    if (!follows) continue;
    continuation* more = follows->publish();
    follows->release();
    continuation** end = &more;
    while (*end) end = &(*end)->next;
    *end = first;
    first = more;
  }
}

void state_base::wait() noexcept {
  if (ready()) return;
  wake_up self([](continuation& c) noexcept -> state_base* {
    static_cast<wake_up&>(c).self.wake();
    return nullptr;
  });
  if (attach(self)) self.self.wait();
}

template <class How>
bool state_base::wait_or(How how) noexcept {
  if (ready()) return true;
  wake_up self([](continuation& c) noexcept -> state_base* {
    auto& w = static_cast<wake_up&>(c);
    w.self.wake();
    w.called.store(true, std::memory_order_release);
    return nullptr;
  });
  if (!attach(self)) return true;
  how(self.self);
  if (detach(self)) return false;
  // complete() has our address: stay until it is done with it.
  for (int round = 0; !self.called.load(std::memory_order_acquire);) back_off(round);
  return true;
}

bool state_base::wait_until(clock::time_point deadline) noexcept {
  return wait_or([&](waiter& self) { self.wait_until(deadline); });
}

bool state_base::wait(const std::stop_token& stop) noexcept {
  return wait_or([&](waiter& self) {
    const std::stop_callback wake(stop, [&]() noexcept { self.wake(); });
    self.wait();
  });
}

}  // namespace plaq::task::detail
