// Back end "os": every task has a kernel thread while it runs or waits.
#pragma once
#include "plaq/task/backend.hpp"
#include "plaq/task/backend_pool.hpp"
#include "plaq/task/standard_names.hpp"

namespace plaq::task {

/// Back end in which a waiting task hands its slot to another thread. So at most workers() tasks run at any time, but
/// there are as many threads as tasks that started and did not end.
struct os : detail::standard_names {
  class scheduler;
  using pool = detail::backend_pool<os>;
  static constexpr std::string_view name() noexcept { return "os"; }
};

extern template class detail::backend_pool<os>;
static_assert(Backend<os>);

}  // namespace plaq::task
