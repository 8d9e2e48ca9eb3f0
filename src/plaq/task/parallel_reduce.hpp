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

/// Returns init + map(begin) + ... + map(end - 1), where combine(a, b) stands for a + b, as std::transform_reduce, but
/// in a fixed order. The range is cut into P = min(n, 256) pieces, piece p starts at p n / P; each is summed from left
/// to right, then init and the pieces from left to right. So the result is bitwise identical for every sharing, number
/// of workers and back end, and combine need not commute. Errors and stop token as parallel_for.
template <task_pool Pool, std::integral Index, class T, class Combine, map_and_combine<Combine, T, Index> Map>
T parallel_reduce(Pool& pool, task_name name, Index begin, Index end, T init, Combine combine, Map map,
                  const loop_options& how = {}) {
  const std::size_t n = detail::length(begin, end);
  if (n == 0) return init;
  const detail::pieces cut(n);
  std::vector<std::optional<T>> part(cut.count());
  parallel_for(
      pool, name, std::size_t{0}, cut.count(),
      [&](std::size_t p) {
        Index i = detail::advanced(begin, cut.begin(p));
        const Index last = detail::advanced(begin, cut.begin(p + 1));
        T sum = map(i);
        while (++i != last) sum = combine(std::move(sum), map(i));
        part[p].emplace(std::move(sum));
      },
      cut.over(how));
  for (auto& sum : part) init = combine(std::move(init), std::move(*sum));
  return init;
}

}  // namespace plaq::task
