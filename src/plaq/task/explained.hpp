// Calls of async and then whose arguments do not fit: they do not compile, and the compiler says why in one line.
#pragma once
#include <concepts>
#include <cstddef>
#include <stop_token>
#include <tuple>
#include <type_traits>

#include "plaq/task/name.hpp"

namespace plaq::task::detail {

class scheduler;
template <class T>
inline constexpr bool is_lazy = false;

template <class Name>
concept names_task = std::convertible_to<Name, task_name>;
template <class F, class... Values>
concept called_with = std::invocable<std::decay_t<F>, Values...>;
template <class Pool>
concept runs_tasks = std::derived_from<std::remove_cvref_t<Pool>, scheduler>;

template <class F, class... Values>
concept returns_value =
    called_with<F, Values...> && !std::is_reference_v<std::invoke_result_t<std::decay_t<F>, Values...>>;
template <class F, class... Values>
concept returns_lazy = called_with<F, Values...> && is_lazy<std::invoke_result_t<std::decay_t<F>, Values...>>;

template <class... Arguments>
inline constexpr bool starts_task = false;
template <names_task Name, returns_value F>
inline constexpr bool starts_task<Name, F> = true;
template <names_task Name, std::convertible_to<std::stop_token> Stop, returns_value F>
inline constexpr bool starts_task<Name, Stop, F> = true;

template <class Future, class... Arguments>
inline constexpr bool continues_with = false;
template <class Future, runs_tasks Pool, names_task Name, returns_value<Future> F>
inline constexpr bool continues_with<Future, Pool, Name, F> = !returns_lazy<F, Future>;

template <std::size_t n, class... Arguments>
using nth = std::tuple_element_t<n, std::tuple<Arguments..., void, void, void>>;

/// Result of a call that does not compile, so that its use is no further error.
struct no_future {
  void get() const {}
  void wait() const {}
};

/// Overload of async for arguments that do not fit.
class explained_async {
 public:
  template <class... Wrong>
    requires(!starts_task<Wrong...>)
  no_future async(Wrong&&...) {
    constexpr bool named = names_task<nth<0, Wrong...>>;
    using F = nth<sizeof...(Wrong) == 3 ? 2 : 1, Wrong...>;
    constexpr bool called = called_with<F>, value = returns_value<F>;
    static_assert(named, "the first argument is the name of the task: pool.async(\"name\", f)");
    static_assert(!named || called,
                  "a task is called without arguments, and captures what it needs: pool.async(\"name\", [x] { use(x); "
                  "})");
    static_assert(!named || !called || value, "a task returns no reference: return a pointer or a value");
    static_assert(!named || !value, "the arguments are a name, perhaps a std::stop_token, and a function");
    return {};
  }
};

/// Overload of Future::then for arguments that do not fit.
template <class Future>
class explained_then {
 public:
  template <class... Wrong>
    requires(!continues_with<Future, Wrong...>)
  no_future then(Wrong&&...) const {
    using F = nth<2, Wrong...>;
    constexpr bool pooled = runs_tasks<nth<0, Wrong...>>, named = names_task<nth<1, Wrong...>>;
    constexpr bool called = called_with<F, Future>, lazy = returns_lazy<F, Future>;
    static_assert(pooled, "the first argument is the pool that runs the continuation: f.then(pool, \"name\", g)");
    static_assert(!pooled || named, "the second argument is the name of the task: f.then(pool, \"name\", g)");
    static_assert(!called || !lazy, "a continuation returns a value or a future: pool.async(...) of the coroutine");
    static_assert(!called || lazy, "a continuation returns no reference: return a pointer or a value");
    static_assert(!pooled || !named || called,
                  "a continuation is called with the future that is ready: f.then(pool, \"name\", [](auto ready) { "
                  "use(ready.get()); }); dataflow gives its value");
    return {};
  }
};

}  // namespace plaq::task::detail
