// Sum over a loop whose bits depend on the range alone.
#pragma once
#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/task/parallel_for.hpp"
#include "plaq/task/pieces.hpp"

namespace plaq::task {

/// Functions map(i), which returns a T, and combine(T, T), which returns another one.
template <class Map, class Combine, class T, class Index>
concept map_and_combine = std::convertible_to<std::invoke_result_t<Map&, Index&>, T> &&
                          std::is_invocable_r_v<T, Combine&, T, std::invoke_result_t<Map&, Index&>> &&
                          std::is_invocable_r_v<T, Combine&, T, T>;

namespace detail {

/// Reduces as parallel_reduce, with arguments that fit.
template <class Pool, class Index, class T, class Combine, class Map>
T reduce_pieces(Pool& pool, task_name name, Index begin, Index end, T init, Combine& combine, Map& map,
                const loop_options& how) {
  const std::size_t n = length(begin, end);
  if (n == 0) return init;
  const pieces cut(n);
  std::vector<std::optional<T>> part(cut.count());
  parallel_for(
      pool, name, std::size_t{0}, cut.count(),
      [&](std::size_t p) {
        Index i = advanced(begin, cut.begin(p));
        const Index last = advanced(begin, cut.begin(p + 1));
        T sum = map(i);
        while (++i != last) sum = combine(std::move(sum), map(i));
        part[p].emplace(std::move(sum));
      },
      cut.over(how));
  for (auto& sum : part) init = combine(std::move(init), std::move(*sum));
  return init;
}

}  // namespace detail

/// Returns init + map(begin) + ... + map(end - 1), where combine(a, b) stands for a + b, as std::transform_reduce, but
/// in a fixed order. The range is cut into P = min(n, 256) pieces, piece p starts at p n / P; each is summed from left
/// to right, then init and the pieces from left to right. So the result is bitwise identical for every sharing, number
/// of workers and back end, and combine need not commute. Errors and stop token as parallel_for.
template <class Pool, class Index, class T, class Combine, class Map>
T parallel_reduce(Pool& pool, task_name name, Index begin, Index end, T init, Combine combine, Map map,
                  const loop_options& how = {}) {
  constexpr bool pooled = task_pool<Pool>, counts = std::integral<Index>;
  constexpr bool reduces = map_and_combine<Map, Combine, T, Index>;
  static_assert(pooled, "no task_pool: the first argument is the pool that runs the loop");
  static_assert(!pooled || counts, "a loop counts from begin to end, two integers (std::integral) of one type");
  static_assert(!pooled || !counts || reduces,
                "no map_and_combine: after the start value come combine(T, T), such as std::plus(), and map(i); both "
                "return a T, the type of the start value");
  if constexpr (pooled && counts && reduces)
    return detail::reduce_pieces(pool, name, begin, end, std::move(init), combine, map, how);
  else
    return init;
}

}  // namespace plaq::task
