// One line on stderr where a task's stack overflows; without it the user sees no more than "Segmentation fault".
#pragma once
#include <signal.h>

#include <cstddef>
#include <memory>

#include "plaq/task/stack.hpp"

namespace plaq::task::detail {

/// On which stack of a task the calling thread runs; nullptr: on its own.
void runs_on(const stack* now) noexcept;

/// While a thread has one, a fault in the guard of the stack that it runs on is named. The fault then comes again, to
/// whoever handled such before: a debugger, a core dump or Python's faulthandler see it as ever.
class overflow_watch {
 public:
  overflow_watch();
  ~overflow_watch();
  overflow_watch(const overflow_watch&) = delete;

 private:
  std::unique_ptr<std::byte[]> memory_;  // the handler's own stack, for the task's is full
  stack_t before_{};
};

}  // namespace plaq::task::detail
