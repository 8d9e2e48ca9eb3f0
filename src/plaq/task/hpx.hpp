// Back end "hpx": every task is an HPX thread. Only in builds with HPX (option PLAQ_WITH_HPX).
#pragma once
#include "plaq/task/backend.hpp"
#include "plaq/task/backend_pool.hpp"
#include "plaq/task/standard_names.hpp"

namespace plaq::task {

/// Back end on the runtime of HPX, of which there is one per process. It starts with the first pool and stops with the
/// last. The scheduler of HPX decides the order of tasks.
///
/// @pre pools that exist at the same time have the same options, else input_error
struct hpx : detail::standard_names {
  class scheduler;
  using pool = detail::backend_pool<hpx>;
  static constexpr std::string_view name() noexcept { return "hpx"; }
};

extern template class detail::backend_pool<hpx>;
static_assert(Backend<hpx>);

}  // namespace plaq::task
