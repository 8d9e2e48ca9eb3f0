// Exceptions in flight and being handled belong to the stack, but the C++ library keeps them by kernel thread.
#pragma once
#include <cxxabi.h>

#include <utility>

namespace plaq::task::detail {

struct caught {
  void* handled = nullptr;
  unsigned int uncaught = 0;

  /// Exchanges those of the calling thread for `next`. Not to be inlined: where a task may change its thread,
  /// compilers would keep the address.
  [[gnu::noinline]] static caught exchange(caught next) noexcept;
};

}  // namespace plaq::task::detail
