#include "plaq/collection/runtime/step_clock.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>

#include "plaq/trace/clock.hpp"

namespace plaq::elements {

namespace {

constexpr std::uint64_t longest = 100'000;  ///< ticks that pass for uninterrupted: 20 to 100 us

/// Last reading of the processor time of a thread.
struct reading {
  std::uint64_t ticks = 0;
  double seconds = 0;
};

/// Not inlined: a step that waits may resume in another thread, and compilers cache thread-local addresses.
[[gnu::noinline]] reading& last_of_this_thread() {
  thread_local reading last;
  return last;
}

/// Length of a tick, from the time since the first call; 0 at first.
double seconds_per_tick() {
  static const trace::clock_pair first = trace::read_both_clocks();
  static std::atomic<double> length{0};
  static std::atomic<std::uint64_t> passed{0};
  const std::uint64_t now = trace::ticks();
  if (now - first.ticks > 2 * passed.load(std::memory_order_relaxed) + longest / 10) {
    const trace::clock_pair pair = trace::read_both_clocks();
    passed = pair.ticks - first.ticks;
    length = 1e-9 * double(pair.ns - first.ns) / double(pair.ticks - first.ticks);
  }
  return length.load(std::memory_order_relaxed);
}

/// Reads the processor time of this thread.
reading read() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return {trace::ticks(), double(now.tv_sec) + 1e-9 * double(now.tv_nsec)};
}

}  // namespace

step_clock::step_clock() {
  reading& last = last_of_this_thread();
  thread_ = &last;
  start_ = trace::ticks();
  if (start_ - last.ticks <= longest) return;
  last = read();
  start_ = last.ticks;
}

std::optional<double> step_clock::seconds() const {
  reading& last = last_of_this_thread();
  if (&last != thread_) return std::nullopt;
  const double tick = seconds_per_tick(), time = tick * double(trace::ticks() - start_);
  if (tick > 0 && time <= tick * double(longest)) return time;
  const double before = last.seconds;
  last = read();
  return tick > 0 ? std::min(time, last.seconds - before) : last.seconds - before;
}

}  // namespace plaq::elements
