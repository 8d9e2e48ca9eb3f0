// Calls of collectives whose arguments do not fit: they do not compile, and the compiler says why in one line.
#pragma once
#include <cstdlib>
#include <ranges>
#include <type_traits>

#include "plaq/comm/collectives/arithmetic.hpp"
#include "plaq/comm/wire/buffer.hpp"
#include "plaq/comm/wire/explained_buffer.hpp"
#include "plaq/task/future.hpp"

namespace plaq::comm {

/// `operation` or function that combines two values of a range.
template <class Op, class R>
concept combines_values_of = requires(Op op) { combination_of<std::ranges::range_value_t<R>>(op); };

namespace detail {

/// Whether the first argument is no such buffer, or no other one combines its values.
template <bool lasts, class First, class... Rest>
concept misused = !fitting_buffer<lasts, First> || !(combines_values_of<std::remove_cvref_t<Rest>, First> || ...);

template <bool lasts, class First, class Second>
concept fitting_buffers = fitting_buffer<lasts, First> && fitting_buffer<lasts, Second>;

template <bool lasts, class First, class Second>
void explain_buffers() {
  explain_buffer<lasts, First>();
  explain_buffer<lasts, Second>();
}

template <bool lasts, class First>
void explain() {
  explain_buffer<lasts, First>();
  constexpr bool fits = fitting_buffer<lasts, First>;
  static_assert(!fits,
                "no argument is an operation for these values: comm::operation::sum, min or max of numbers, in place "
                "of MPI_SUM and the like, or a function of two values that returns one");
}

}  // namespace detail

/// Overloads of the calls of `collectives` for arguments that do not fit.
class explained_calls {
 public:
  template <class First, class... Rest>
    requires(!detail::fitting_buffer<false, First>)
  void broadcast(First&&, Rest&&...) {
    detail::explain<false, First>();
  }
  template <class First, class... Rest>
    requires(!detail::fitting_buffer<true, First>)
  task::future<void> ibroadcast(First&&, Rest&&...) {
    detail::explain<true, First>();
    std::abort();
  }
  template <class First, class... Rest>
    requires detail::misused<false, First, Rest...>
  void reduce(First&&, Rest&&...) {
    detail::explain<false, First>();
  }
  template <class First, class... Rest>
    requires detail::misused<true, First, Rest...>
  task::future<void> ireduce(First&&, Rest&&...) {
    detail::explain<true, First>();
    std::abort();
  }
  template <class First, class... Rest>
    requires detail::misused<false, First, Rest...>
  void all_reduce(First&&, Rest&&...) {
    detail::explain<false, First>();
  }
  template <class First, class... Rest>
    requires detail::misused<true, First, Rest...>
  task::future<void> iall_reduce(First&&, Rest&&...) {
    detail::explain<true, First>();
    std::abort();
  }
  template <class First, class... Rest>
    requires detail::misused<false, First, Rest...>
  void reduce_scatter(First&&, Rest&&...) {
    detail::explain<false, First>();
  }
  template <class First, class... Rest>
    requires detail::misused<false, First, Rest...>
  void inclusive_scan(First&&, Rest&&...) {
    detail::explain<false, First>();
  }
  template <class First, class... Rest>
    requires detail::misused<false, First, Rest...>
  void exclusive_scan(First&&, Rest&&...) {
    detail::explain<false, First>();
  }
  template <class First, class Second, class... Rest>
    requires(!detail::fitting_buffers<false, First, Second>)
  void scatter(First&&, Second&&, Rest&&...) {
    detail::explain_buffers<false, First, Second>();
  }
  template <class First, class Second, class... Rest>
    requires(!detail::fitting_buffers<true, First, Second>)
  task::future<void> iscatter(First&&, Second&&, Rest&&...) {
    detail::explain_buffers<true, First, Second>();
    std::abort();
  }
  template <class First, class Second, class... Rest>
    requires(!detail::fitting_buffers<false, First, Second>)
  void gather(First&&, Second&&, Rest&&...) {
    detail::explain_buffers<false, First, Second>();
  }
  template <class First, class Second, class... Rest>
    requires(!detail::fitting_buffers<true, First, Second>)
  task::future<void> igather(First&&, Second&&, Rest&&...) {
    detail::explain_buffers<true, First, Second>();
    std::abort();
  }
  template <class First, class Second, class... Rest>
    requires(!detail::fitting_buffers<false, First, Second>)
  void all_gather(First&&, Second&&, Rest&&...) {
    detail::explain_buffers<false, First, Second>();
  }
  template <class First, class Second, class... Rest>
    requires(!detail::fitting_buffers<true, First, Second>)
  task::future<void> iall_gather(First&&, Second&&, Rest&&...) {
    detail::explain_buffers<true, First, Second>();
    std::abort();
  }
  template <class First, class Second, class... Rest>
    requires(!detail::fitting_buffers<false, First, Second>)
  void all_to_all(First&&, Second&&, Rest&&...) {
    detail::explain_buffers<false, First, Second>();
  }
  template <class First, class Second, class... Rest>
    requires(!detail::fitting_buffers<true, First, Second>)
  task::future<void> iall_to_all(First&&, Second&&, Rest&&...) {
    detail::explain_buffers<true, First, Second>();
    std::abort();
  }
};

}  // namespace plaq::comm
