// Partial sums over a loop whose bits depend on the range alone.
#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/task/parallel_for.hpp"
#include "plaq/task/pieces.hpp"

namespace plaq::task {

/// Range whose elements are reached by their index.
template <class R>
concept indexed_range = std::ranges::random_access_range<R> && std::ranges::sized_range<R>;

/// Function combine(T, T) that returns another T, such as std::plus.
template <class Combine, class T>
concept combines = std::is_invocable_r_v<T, Combine&, T, T>;

namespace detail {

/// Range to whose elements a T is assigned.
template <class Out, class T>
concept keeps = std::is_assignable_v<std::ranges::range_reference_t<Out>, const T&>;

/// Scans piece by piece: sums of the pieces, their partial sums, then each piece from the sum of those before it.
/// keep(i, sum) stores the result for index i, from the sum up to i, exclusive or inclusive.
template <bool inclusive, class Pool, class In, class T, class Combine, class Keep>
void scan(Pool& pool, task_name name, const In& in, std::optional<T> init, Combine& combine, Keep keep,
          const loop_options& how) {
  const auto n = static_cast<std::size_t>(std::ranges::size(in));
  if (n == 0) return;
  const auto at = [first = std::ranges::begin(in)](std::size_t i) -> T {
    return first[static_cast<std::iter_difference_t<decltype(first)>>(i)];
  };
  const pieces cut(n);
  std::vector<std::optional<T>> before(cut.count());  // first the sum of each piece, then of those before it
  parallel_for(
      pool, name, std::size_t{0}, cut.count() - 1,
      [&](std::size_t p) {
        T sum = at(cut.begin(p));
        for (std::size_t i = cut.begin(p) + 1; i < cut.begin(p + 1); ++i) sum = combine(std::move(sum), at(i));
        before[p].emplace(std::move(sum));
      },
      cut.over(how));
  for (auto& sum : before) {
    std::optional<T> after = init;
    if (sum) after.emplace(init ? combine(*init, std::move(*sum)) : std::move(*sum));
    sum = std::exchange(init, std::move(after));
  }
  parallel_for(
      pool, name, std::size_t{0}, cut.count(),
      [&](std::size_t p) {
        std::optional<T>& sum = before[p];
        for (std::size_t i = cut.begin(p); i < cut.begin(p + 1); ++i) {
          T next = at(i);  // read before it is overwritten, where `in` and `out` are the same
          if constexpr (!inclusive) keep(i, *sum);
          sum = sum ? combine(std::move(*sum), std::move(next)) : std::move(next);
          if constexpr (inclusive) keep(i, *sum);
        }
      },
      cut.over(how));
}

template <bool inclusive, class Pool, class In, class Out, class T, class Combine>
void scan_into(Pool& pool, task_name name, const In& in, Out& out, std::optional<T> init, Combine& combine,
               const loop_options& how) {
  if (std::ranges::size(in) > std::ranges::size(out))
    throw input_error("a scan of " + std::to_string(std::ranges::size(in)) + " values into " +
                      std::to_string(std::ranges::size(out)));
  const auto first = std::ranges::begin(out);
  const auto keep = [first](std::size_t i, const T& sum) {
    first[static_cast<std::iter_difference_t<decltype(first)>>(i)] = sum;
  };
  scan<inclusive>(pool, name, in, std::move(init), combine, keep, how);
}

}  // namespace detail

/// Stores in out[i] the sum in[0] + ... + in[i], where combine(a, b) stands for a + b, as std::inclusive_scan, but in a
/// fixed order: of the pieces of parallel_reduce, then within each. So the result is bitwise identical for every
/// sharing, number of workers and back end, and combine need not commute. `out` may be `in`. Each value is read twice
/// and combined about twice. Errors and stop token as parallel_for; `out` is then unspecified.
///
/// @pre out is not shorter than in, else input_error
template <task_pool Pool, indexed_range In, indexed_range Out, class Combine>
void parallel_inclusive_scan(Pool& pool, task_name name, const In& in, Out&& out, Combine combine,
                             const loop_options& how = {}) {
  using T = std::ranges::range_value_t<In>;
  constexpr bool fits = combines<Combine, T>, stores = detail::keeps<Out, T>;
  static_assert(fits, "combine is called with two values of `in`, and returns another: combines<Combine, T>");
  static_assert(!fits || stores, "`out` holds values of another type than `in`");
  if constexpr (fits && stores) detail::scan_into<true>(pool, name, in, out, std::optional<T>(), combine, how);
}

/// Stores in out[i] the sum init + in[0] + ... + in[i - 1], otherwise as parallel_inclusive_scan.
///
/// @pre out is not shorter than in, else input_error
template <task_pool Pool, indexed_range In, indexed_range Out, std::copyable T, class Combine>
void parallel_exclusive_scan(Pool& pool, task_name name, const In& in, Out&& out, T init, Combine combine,
                             const loop_options& how = {}) {
  constexpr bool fits = combines<Combine, T>, stores = detail::keeps<Out, T>;
  static_assert(fits,
                "combine is called with two values of the type of `init`, and returns another: combines<Combine, T>");
  static_assert(!fits || stores, "`out` holds values of another type than `init`");
  if constexpr (fits && stores)
    detail::scan_into<false>(pool, name, in, out, std::optional<T>(std::move(init)), combine, how);
}

}  // namespace plaq::task
