// Clock of the recorder: the processor's time-stamp counter if it can be trusted, else steady_clock.
#pragma once
#include <chrono>
#include <cstdint>
#include <string_view>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace plaq::trace {

namespace detail {
extern const bool counter_is_invariant;
inline std::uint64_t monotonic_ns() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}
}  // namespace detail

/// Ticks of unknown length since an unknown moment; the same on all cores. A call of the time-stamp counter takes some
/// 8 ns. That is read only if the processor reports that it runs at one rate in all states (CPUID 0x80000007, EDX bit
/// 8) and the kernel lists it among its clocks.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  if (detail::counter_is_invariant) [[likely]]
    return __rdtsc();
#endif
  return detail::monotonic_ns();
}

/// One moment on both clocks. Two of them give the length of a tick.
struct clock_pair {
  std::uint64_t ticks;
  std::uint64_t ns;       ///< steady_clock (CLOCK_MONOTONIC)
  std::uint64_t between;  ///< ticks that passed while the two were read: how well they belong together
};
/// Returns the present moment on both clocks: of several readings the one with the smallest `between`.
clock_pair read_both_clocks() noexcept;

/// Name of the clock: "time-stamp counter" or "steady clock".
std::string_view clock_name() noexcept;

}  // namespace plaq::trace
