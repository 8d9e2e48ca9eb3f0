// Hint to the core that it is spinning.
#pragma once

namespace plaq {

inline void pause_core() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#elif defined(__powerpc64__)
  asm volatile("or 27, 27, 27");
#endif
}

}  // namespace plaq
