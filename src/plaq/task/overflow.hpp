// Report of a stack overflow of a task: one line on stderr instead of "Segmentation fault" alone.
#pragma once
#include <signal.h>

#include <cstddef>
#include <memory>

#include "plaq/task/stack.hpp"

namespace plaq::task::detail {

/// Declares the stack of a task that the calling thread runs on; nullptr: its own.
void runs_on(const stack* now) noexcept;

/// Handler of a thread for faults in the guard of the stack that it runs on. The fault then comes again, for the
/// previous handler: a debugger, a core dump or Python's faulthandler work as before.
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
