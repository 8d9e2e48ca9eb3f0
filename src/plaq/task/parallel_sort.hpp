// Stable sort as tasks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "plaq/task/parallel_for.hpp"
#include "plaq/task/pieces.hpp"

namespace plaq::task {

namespace detail {

/// Returns how many of the first `d` elements of the stable merge of `left` and `right` are of `left`.
template <class Range, class Compare>
std::size_t taken_from_left(const Range& left, const Range& right, std::size_t d, Compare& less) {
  std::size_t low = d > right.size() ? d - right.size() : 0, high = std::min(d, left.size());
  while (low < high) {
    const std::size_t i = low + (high - low) / 2;
    if (less(right[d - i - 1], left[i]))
      high = i;
    else
      low = i + 1;
  }
  return low;
}

/// Two sorted runs, [begin, middle) and [middle, end).
struct run_pair {
  std::size_t begin, middle, end;
};
/// Returns the runs of `width` pieces whose merge has piece p.
inline run_pair runs_of(const pieces& cut, std::size_t width, std::size_t p) {
  const std::size_t pair = p / (2 * width) * (2 * width);
  const auto begin = [&](std::size_t piece) { return cut.begin(std::min(piece, cut.count())); };
  return {begin(pair), begin(pair + width), begin(pair + 2 * width)};
}

/// Iterator to an element that is to be moved from.
template <class T>
auto moved(std::span<T> from, std::size_t at) {
  return std::move_iterator(from.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Sorts as parallel_sort, with arguments that fit.
template <class Pool, class T, class Compare>
void sort_pieces(Pool& pool, task_name name, std::span<T> all, Compare& less, const loop_options& how) {
  if (all.empty()) return;
  constexpr std::size_t least = 1024;  // elements of a piece, whose sort takes longer than the start of a task
  const pieces cut(all.size(), least);
  const auto each_piece = [&](auto&& work) {
    parallel_for(pool, name, std::size_t{0}, cut.count(), work, cut.over(how));
  };
  const auto begin_of = [&](std::span<T> whole, std::size_t p) {
    return whole.begin() + static_cast<std::ptrdiff_t>(cut.begin(p));
  };
  each_piece([&](std::size_t p) { std::stable_sort(begin_of(all, p), begin_of(all, p + 1), less); });
  if (cut.count() == 1) return;

  std::vector<T> second(std::move_iterator(all.begin()), std::move_iterator(all.end()));
  std::span<T> from(second), to(all);
  std::vector<std::size_t> first(cut.count());  // of the left run, in each piece of the merge
  for (std::size_t width = 1; width < cut.count(); width *= 2, std::swap(from, to)) {
    each_piece([&](std::size_t p) {
      const auto [begin, middle, end] = runs_of(cut, width, p);
      first[p] = begin + taken_from_left(from.subspan(begin, middle - begin), from.subspan(middle, end - middle),
                                         cut.begin(p) - begin, less);
    });
    each_piece([&](std::size_t p) {
      const auto [begin, middle, end] = runs_of(cut, width, p);
      const std::size_t last = cut.begin(p + 1) == end ? middle : first[p + 1];
      std::merge(moved(from, first[p]), moved(from, last), moved(from, middle + cut.begin(p) - first[p]),
                 moved(from, middle + cut.begin(p + 1) - last), begin_of(to, p),
                 [&](const T& a, const T& b) { return less(a, b); });
    });
  }
  if (from.data() == all.data()) return;
  each_piece([&](std::size_t p) { std::move(begin_of(from, p), begin_of(from, p + 1), begin_of(to, p)); });
}

}  // namespace detail

/// Sorts a contiguous range by less(a, b), as std::stable_sort: elements of which neither is less keep their order. So
/// the result is the same for every number of workers and back end. Needs memory for as many elements again. Errors and
/// stop token as parallel_for; the elements are then unspecified.
template <task_pool Pool, std::ranges::range R, class Compare = std::less<>>
void parallel_sort(Pool& pool, task_name name, R&& range, Compare less = {}, const loop_options& how = {}) {
  constexpr bool contiguous = std::ranges::contiguous_range<R>;
  constexpr bool sorts = std::sortable<std::ranges::iterator_t<R>, Compare>;
  static_assert(contiguous, "the range is contiguous, as a std::vector is");
  static_assert(
      !contiguous || sorts,
      "not std::sortable: less(a, b) of two elements returns a bool, and the elements are movable and not const");
  if constexpr (contiguous && sorts) detail::sort_pieces(pool, name, std::span(range), less, how);
}

}  // namespace plaq::task
