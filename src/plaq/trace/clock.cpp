#include "plaq/trace/clock.hpp"

#include <fstream>
#include <limits>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace plaq::trace {

namespace {

#if defined(__x86_64__)
bool processor_promises() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/// Returns whether the kernel trusts the counter: it takes one that jumped or stopped off its list. True if there is no
/// such file.
bool kernel_agrees() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/available_clocksource");
  if (!file) return true;
  for (std::string name; file >> name;)
    if (name == "tsc") return true;
  return false;
}
#else
bool processor_promises() { return false; }
bool kernel_agrees() { return false; }
#endif

}  // namespace

const bool detail::counter_is_invariant = processor_promises() && kernel_agrees();

clock_pair read_both_clocks() noexcept {
  constexpr int attempts = 5;  // the narrowest one was not interrupted
  clock_pair best{0, 0, std::numeric_limits<std::uint64_t>::max()};
  for (int i = 0; i < attempts; ++i) {
    const std::uint64_t before = ticks(), ns = detail::monotonic_ns(), after = ticks();
    if (after - before < best.between) best = {before + (after - before) / 2, ns, after - before};
  }
  return best;
}

std::string_view clock_name() noexcept { return detail::counter_is_invariant ? "time-stamp counter" : "steady clock"; }

}  // namespace plaq::trace
