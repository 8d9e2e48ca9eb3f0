#include "plaq/task/future.hpp"

namespace plaq::task::detail {

continuation state_base::nothing{nullptr};

namespace {

struct wake_up : continuation {
  explicit wake_up(void (*how)(continuation&) noexcept) : continuation{how} {}
  waiter who;
  std::atomic<bool> called{false};
};

}  // namespace

void state_base::complete() noexcept {
  continuation* next = next_.exchange(&nothing, std::memory_order_acq_rel);
  if (next) next->call(*next);
}

bool state_base::attach(continuation& c) {
  continuation* expected = nullptr;
  if (next_.compare_exchange_strong(expected, &c, std::memory_order_acq_rel)) return true;
  check(expected == &nothing, "two tasks wait for the same future");
  return false;
}

void state_base::wait() {
  if (ready()) return;
  wake_up self([](continuation& c) noexcept { static_cast<wake_up&>(c).who.wake(); });
  if (attach(self)) self.who.wait();
}

bool state_base::wait_until(clock::time_point deadline) {
  if (ready()) return true;
  wake_up self([](continuation& c) noexcept {
    auto& w = static_cast<wake_up&>(c);
    w.who.wake();
    w.called.store(true, std::memory_order_release);
  });
  if (!attach(self)) return true;
  self.who.wait_until(deadline);
  continuation* expected = &self;
  if (next_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel)) return false;
  // complete() has our address: stay until it is done with it.
  for (int round = 0; !self.called.load(std::memory_order_acquire);) back_off(round);
  return true;
}

}  // namespace plaq::task::detail
