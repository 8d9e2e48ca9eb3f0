#include "plaq/task/pool.hpp"

#include "plaq/task/this_task.hpp"

namespace plaq::task {

void this_task::yield() noexcept {
  if (detail::job* self = detail::current())
    self->home.yield(*self);
  else
    std::this_thread::yield();
}

void this_task::sleep_until(std::chrono::steady_clock::time_point when) noexcept {
  while (detail::clock::now() < when) {
    detail::waiter self;
    self.wait_until(when);
  }
}

std::uint64_t this_task::id() noexcept {
  const detail::job* self = detail::current();
  return self ? self->id : 0;
}

}  // namespace plaq::task
