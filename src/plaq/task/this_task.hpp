// Operations of the running task, with the names of std::this_thread.
#pragma once
#include <chrono>
#include <cstdint>

#include "plaq/task/deadline.hpp"

namespace plaq::task::this_task {

/// Lets other tasks run first. A thread outside of the pools yields its core.
void yield() noexcept;

/// Suspends the task until that moment; its worker runs others meanwhile.
void sleep_until(std::chrono::steady_clock::time_point when) noexcept;
/// Suspends the task for at least that time.
template <class Rep, class Period>
void sleep_for(std::chrono::duration<Rep, Period> time) noexcept {
  sleep_until(detail::deadline_after(time));
}

/// Id of the running task as listeners know it, 0 outside of tasks.
std::uint64_t id() noexcept;

}  // namespace plaq::task::this_task
