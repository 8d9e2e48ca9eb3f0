#include "plaq/task/pool.hpp"

#include <string>

#include "plaq/task/cores.hpp"
#include "plaq/task/this_task.hpp"

namespace plaq::task {

detail::pool_base::pool_base(const options& given) : workers_(given.workers ? given.workers : physical_cores()) {
  if (given.workers < 0)
    throw input_error("workers = " + std::to_string(given.workers) + ": give 1 or more, or 0 for one per core");
}

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
