// Calls of collectives whose arguments do not fit: they do not compile, and the compiler says why in one line.
#pragma once
#include <cstdlib>
#include <ranges>
#include <type_traits>

#include "plaq/comm/collectives/arithmetic.hpp"
#include "plaq/comm/wire/buffer.hpp"
#include "plaq/task/future.hpp"

namespace plaq::comm {

/// `operation` or function that combines two values of a range.
template <class Op, class R>
concept combines_values_of = requires(Op op) { combination_of<std::ranges::range_value_t<R>>(op); };

namespace detail {

template <bool lasts, class R>
concept fitting_buffer = buffer<R> && (!lasts || lasting_buffer<R>);
/// Whether the first argument is no such buffer, or no other one combines its values.
template <bool lasts, class First, class... Rest>
concept misused = !fitting_buffer<lasts, First> || !(combines_values_of<std::remove_cvref_t<Rest>, First> || ...);

template <bool lasts, class First>
void explain() {
  constexpr bool is_buffer = buffer<First>, fits = fitting_buffer<lasts, First>;
  static_assert(is_buffer,
                "the argument is no buffer, that is, no contiguous range of trivially copyable values such as a "
                "std::vector<double>; one value x is passed as std::span(&x, 1)");
  static_assert(!is_buffer || fits,
                "the argument is no lasting_buffer: a variable or a std::span, which outlives the future");
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
};

}  // namespace plaq::comm
