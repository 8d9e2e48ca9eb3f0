// A task graph: tasks that start once the results are there that they work on.
#pragma once
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/task/deferred.hpp"

namespace plaq::task {

namespace detail {

// What f gets for a member: nothing for void, the value of a future, a reference for a shared one.
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
    return state_of(ready).look(), std::tuple<>();
  else
    return std::tuple<const T&>(state_of(ready).look());
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

/// Can be called with what these futures, shared futures and vectors of them give.
template <class F, class... Antecedents>
concept takes_results_of =
    detail::takes_all<F, decltype(std::tuple_cat(detail::arguments_of(std::declval<Antecedents&>())...))>;

/// Runs f(values...) as a task of `pool` once all results are there; no worker and no stack waits for it. A future
/// gives its value, a shared_future a reference to it, a vector of either a vector of values, void no argument.
/// Where an antecedent failed, f is not run and the error of the first such comes out of the future that is
/// returned; so does what f throws. Where f returns a future, its result comes out. The destructor of the pool
/// waits for the task. Throws std::future_error for an antecedent that is not valid.
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

}  // namespace plaq::task
