// Back end "fiber": every task has a stack of its own while it runs or waits; workers switch between them.
#pragma once
#include "plaq/task/backend.hpp"
#include "plaq/task/backend_pool.hpp"
#include "plaq/task/standard_names.hpp"

namespace plaq::task {

/// Back end with workers() kernel threads, each with a queue; an idle worker steals from the others. A task may wake up
/// on another worker: keep no thread-local variable (nor the address of errno) over a wait, and mind the size of the
/// stack. Below it a guard ends the process, with a line that reports the overflow, before other memory is overwritten.
struct fiber : detail::standard_names {
  class scheduler;
  using pool = detail::backend_pool<fiber>;
  static constexpr std::string_view name() noexcept { return "fiber"; }
};

extern template class detail::backend_pool<fiber>;
static_assert(Backend<fiber>);

}  // namespace plaq::task
