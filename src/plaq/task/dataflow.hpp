// Task graph: tasks that start once their inputs are ready.
#pragma once
#include <concepts>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/task/deferred.hpp"
#include "plaq/task/explained.hpp"

namespace plaq::task {

namespace detail {

// Argument of f for a member: none for void, the value of a future, a reference for a shared one.
template <class T>
auto arguments_of(future<T>& ready) {
  if constexpr (std::is_void_v<T>)
    return state_of(ready).take(), std::tuple<>();
  else
    return std::tuple<T>(state_of(ready).take());
}
template <class T>
auto arguments_of(shared_future<T>& ready) {
  if constexpr (std::is_void_v<T>)
    return state_of(ready).value_or_throw(), std::tuple<>();
  else
    return std::tuple<const T&>(state_of(ready).value_or_throw());
}
template <class Future>
auto arguments_of(std::vector<Future>& ready) {
  using T = typename Future::value_type;
  if constexpr (std::is_void_v<T>) {
    for (auto& one : ready) arguments_of(one);
    return std::tuple<>();
  } else {
    std::vector<T> values;
    values.reserve(ready.size());
    for (auto& one : ready) values.push_back(std::get<0>(arguments_of(one)));
    return std::tuple<std::vector<T>>(std::move(values));
  }
}

template <class F, class Values>
inline constexpr bool takes_all = false;
template <class F, class... Value>
inline constexpr bool takes_all<F, std::tuple<Value...>> = std::is_invocable_v<F, Value...>;

}  // namespace detail

/// Callable with the values of these futures, shared futures and vectors of them.
template <class F, class... Antecedents>
concept takes_results_of =
    detail::takes_all<F, decltype(std::tuple_cat(detail::arguments_of(std::declval<Antecedents&>())...))>;

namespace detail {

template <class F>
inline constexpr bool is_antecedent = any_future<F>;
template <class F>
inline constexpr bool is_antecedent<std::vector<F>> = any_future<F>;
/// Argument that dataflow can keep: a future that is moved, or a copy of a shared one.
template <class F>
concept kept_antecedent = is_antecedent<std::decay_t<F>> && std::constructible_from<std::decay_t<F>, F>;

template <class... Arguments>
inline constexpr bool flows = false;
template <runs_tasks Pool, names_task Name, class F, kept_antecedent... Antecedents>
inline constexpr bool flows<Pool, Name, F, Antecedents...> =
    takes_results_of<std::decay_t<F>, std::decay_t<Antecedents>...>;

}  // namespace detail

/// Runs f(values...) as a task of `pool` once all results are ready; meanwhile no worker and no stack waits. A future
/// gives its value, a shared_future a reference to it, a vector of either a vector of values, void no argument. If an
/// antecedent failed, f is not run, and the returned future has the error of the first such; exceptions of f also go to
/// that future. If f returns a future, its result is returned. The destructor of the pool waits for the task.
///
/// @pre every antecedent is valid, else std::future_error
template <class F, class... Antecedents>
  requires takes_results_of<std::decay_t<F>, Antecedents...>
auto dataflow(detail::scheduler& pool, task_name name, F&& f, Antecedents... results) {
  auto unpack = [f = std::forward<F>(f)](Antecedents... ready) mutable -> decltype(auto) {
    // Braces: from left to right.
    std::tuple<decltype(detail::arguments_of(ready))...> all{detail::arguments_of(ready)...};
    return std::apply(
        [&](auto&... each) -> decltype(auto) { return std::apply(std::move(f), std::tuple_cat(std::move(each)...)); },
        all);
  };
  return detail::defer(pool, name, std::move(unpack), std::move(results)...);
}

/// Overload for arguments that do not fit.
template <class Pool, class Name, class F, class... Wrong>
  requires(!detail::flows<Pool, Name, F, Wrong...>)
detail::no_future dataflow(Pool&&, Name&&, F&&, Wrong&&...) {
  constexpr bool pooled = detail::runs_tasks<Pool>, named = detail::names_task<Name>;
  constexpr bool antecedents = (detail::is_antecedent<std::decay_t<Wrong>> && ...);
  constexpr bool kept = (detail::kept_antecedent<Wrong> && ...);
  constexpr bool first = pooled && named;
  static_assert(pooled, "the first argument is the pool that runs the task: dataflow(pool, \"name\", f, futures...)");
  static_assert(!pooled || named,
                "the second argument is the name of the task: dataflow(pool, \"name\", f, futures...)");
  static_assert(!first || antecedents, "after f come futures, shared futures or vectors of them");
  static_assert(!first || !antecedents || kept, "a future is used up: dataflow(pool, \"name\", f, std::move(future))");
  static_assert(!first || !kept,
                "no takes_results_of: f is called with the values of the futures, in their order, and none for void");
  return {};
}

}  // namespace plaq::task
