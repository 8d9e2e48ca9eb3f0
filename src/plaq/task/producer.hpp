// Reports to trace which task uses the result of another. One branch without a listener.
#pragma once
#include <cstdint>

#include "plaq/task/this_task.hpp"
#include "plaq/trace/hooks.hpp"

namespace plaq::task::detail {

/// Id to store with a result: the running task, 0 outside of tasks or without a listener.
inline std::uint64_t current_producer() noexcept { return trace::detail::listening() ? this_task::id() : 0; }

/// Reports that the running task uses a result of `producer`.
inline void record_use(std::uint64_t producer) noexcept {
  if (trace::detail::listening()) [[unlikely]]
    trace::linked(producer, this_task::id());
}

}  // namespace plaq::task::detail
