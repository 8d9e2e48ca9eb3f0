// Hint to the core that it is spinning.
#pragma once

namespace plaq {

inline void pause_core() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

}  // namespace plaq
