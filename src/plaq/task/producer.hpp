// Tells trace which task uses what another made. One branch where nobody listens.
#pragma once
#include <cstdint>

#include "plaq/task/this_task.hpp"
#include "plaq/trace/hooks.hpp"

namespace plaq::task::detail {

/// To be stored beside what is made: the running task, 0 outside of tasks or where nobody listens.
inline std::uint64_t maker() noexcept { return trace::detail::listening() ? this_task::id() : 0; }

/// The running task uses what `maker` made.
inline void uses(std::uint64_t maker) noexcept {
  if (trace::detail::listening()) [[unlikely]]
    trace::linked(maker, this_task::id());
}

}  // namespace plaq::task::detail
