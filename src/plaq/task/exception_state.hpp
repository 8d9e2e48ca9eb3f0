// Exceptions in flight and being handled. They belong to the stack, but the C++ library keeps them by kernel thread.
#pragma once
#include <cxxabi.h>

#include <utility>

namespace plaq::task::detail {

struct exception_state {
  void* handled = nullptr;
  unsigned int uncaught = 0;

  /// Exchanges the state of the calling thread for `next`. Not inlined: a task may change its thread, and compilers
  /// would keep the address.
  [[gnu::noinline]] static exception_state exchange(exception_state next) noexcept;
};

}  // namespace plaq::task::detail
