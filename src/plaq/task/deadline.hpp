// Moments at which timed waits give up, from the durations and clocks of their callers.
#pragma once
#include <chrono>

#include "plaq/task/gate.hpp"

namespace plaq::task::detail {

/// Returns the moment `time` from now, rounded up; the last one that the clock has if it lies beyond.
template <class Rep, class Period>
clock::time_point deadline_after(std::chrono::duration<Rep, Period> time) {
  const auto now = clock::now();
  if (time <= time.zero()) return now;
  using seconds = std::chrono::duration<double>;
  constexpr seconds spare(1);  // more than the rounding of a double
  if (seconds(time) >= seconds(clock::time_point::max() - now) - spare) return clock::time_point::max();
  return now + std::chrono::ceil<clock::duration>(time);
}

/// Calls wait(deadline), which returns whether it ended before, until it did or until `when` on the clock of `when`,
/// which may be set meanwhile. Returns whether it did.
template <class Clock, class Duration, class Wait>
bool wait_by(std::chrono::time_point<Clock, Duration> when, Wait wait) {
  for (;;) {
    const auto now = Clock::now();
    decltype(when - now) left{};
    if (when > now) left = when - now;
    if (wait(deadline_after(left))) return true;
    if (Clock::now() >= when) return false;
  }
}

}  // namespace plaq::task::detail
