// Senders with the names of std::execution, over pools and futures.
#pragma once
#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "plaq/task/antecedents.hpp"
#include "plaq/task/cancelled.hpp"
#include "plaq/task/future.hpp"
#include "plaq/task/pool.hpp"

// A sender describes work; connect(sender, receiver) makes an operation and start(operation) begins it. The operation
// then calls one of set_value(values...), set_error(std::exception_ptr) and set_stopped() of the receiver, once. The
// operation lives at one place until then.
namespace plaq::task::execution {

/// Description of work that ends with the values of the tuple `S::values`.
template <class S>
concept sender =
    std::move_constructible<std::remove_cvref_t<S>> && requires { typename std::remove_cvref_t<S>::values; };

/// Receiver of the values of a tuple, of an error, or of the message that there is neither.
template <class R, class Values>
inline constexpr bool receives = false;
template <class R, class... V>
inline constexpr bool receives<R, std::tuple<V...>> = requires(R r, V... values, std::exception_ptr error) {
  { std::move(r).set_value(std::move(values)...) } noexcept;
  { std::move(r).set_error(std::move(error)) } noexcept;
  { std::move(r).set_stopped() } noexcept;
};
/// Receiver of the values of a sender.
template <class R, class S>
concept receiver_of = std::move_constructible<R> && receives<R, typename std::remove_cvref_t<S>::values>;

/// Returns the operation that does the work of the sender and then calls the receiver.
template <sender S, receiver_of<S> R>
auto connect(S&& from, R to) {
  return std::forward<S>(from).connect(std::move(to));
}
/// Begins an operation, which lives until its receiver is called.
template <class Operation>
void start(Operation& of) noexcept {
  of.start();
}
/// Ends the work with these values.
template <class R, class... V>
void set_value(R&& to, V&&... values) noexcept {
  std::forward<R>(to).set_value(std::forward<V>(values)...);
}
/// Ends the work with an error.
template <class R>
void set_error(R&& to, std::exception_ptr error) noexcept {
  std::forward<R>(to).set_error(std::move(error));
}
/// Ends the work that was stopped.
template <class R>
void set_stopped(R&& to) noexcept {
  std::forward<R>(to).set_stopped();
}

namespace detail {

using task::detail::scheduler;

template <class T>
struct values_of {
  using type = std::tuple<T>;
};
template <>
struct values_of<void> {
  using type = std::tuple<>;
};
/// Tuple of a result: of none for void.
template <class T>
using values_of_t = typename values_of<T>::type;

/// Calls the receiver with the values of call(), or its error; `cancelled` counts as stopped.
template <class R, class Call>
void deliver(R&& to, Call&& call) noexcept {
  using T = std::invoke_result_t<Call>;
  try {
    if constexpr (std::is_void_v<T>) {
      std::forward<Call>(call)();
      set_value(std::move(to));
    } else {
      set_value(std::move(to), std::forward<Call>(call)());
    }
  } catch (const cancelled&) {
    set_stopped(std::move(to));
  } catch (...) {
    set_error(std::move(to), std::current_exception());
  }
}

/// Sender of given values.
template <class... V>
struct just_sender {
  using values = std::tuple<V...>;
  template <class R>
  struct operation {
    void start() noexcept {
      std::apply([&](V&... value) { set_value(std::move(to), std::move(value)...); }, given);
    }
    std::tuple<V...> given;
    R to;
  };
  template <class R>
  operation<R> connect(R to) && {
    return {std::move(given), std::move(to)};
  }
  std::tuple<V...> given;
};

/// Sender that ends in a new task of a pool.
template <class Pool>
struct schedule_sender {
  using values = std::tuple<>;
  template <class R>
  struct operation {
    void start() noexcept {
      try {
        (void)pool->async(name, [this] { set_value(std::move(to)); });
      } catch (...) {
        set_error(std::move(to), std::current_exception());
      }
    }
    Pool* pool;
    task_name name;
    R to;
  };
  template <class R>
  operation<R> connect(R to) && {
    return {pool, name, std::move(to)};
  }
  Pool* pool;
  task_name name;
};

/// Sender of the result of a future, in a new task of a pool.
template <class Future>
struct future_sender {
  using values = values_of_t<typename Future::value_type>;
  template <class R>
  struct operation {
    void start() noexcept {
      try {
        (void)result.then(*pool, name, [this](Future ready) noexcept {
          deliver(std::move(to), [&]() -> typename Future::value_type { return ready.get(); });
        });
      } catch (...) {
        set_error(std::move(to), std::current_exception());
      }
    }
    scheduler* pool;
    task_name name;
    Future result;
    R to;
  };
  template <class R>
  operation<R> connect(R to) && {
    return {pool, name, std::move(result), std::move(to)};
  }
  scheduler* pool;
  task_name name;
  Future result;
};

template <class F, class Values>
struct applied;
template <class F, class... V>
struct applied<F, std::tuple<V...>> {
  static_assert(std::invocable<F, V...>, "f is called with the values of the sender: then(sender, f)");
  using type = std::invoke_result_t<F, V...>;
};

/// Sender of f(values...).
template <class S, class F>
struct then_sender {
  using values = values_of_t<typename applied<F, typename S::values>::type>;
  template <class R>
  struct receiver {
    template <class... V>
    void set_value(V&&... value) && noexcept {
      deliver(std::move(to), [&]() -> decltype(auto) { return std::invoke(std::move(f), std::forward<V>(value)...); });
    }
    void set_error(std::exception_ptr error) && noexcept { execution::set_error(std::move(to), std::move(error)); }
    void set_stopped() && noexcept { execution::set_stopped(std::move(to)); }
    F f;
    R to;
  };
  template <class R>
  auto connect(R to) && {
    return execution::connect(std::move(before), receiver<R>{std::move(f), std::move(to)});
  }
  S before;
  F f;
};
template <class F>
struct then_closure {
  F f;
  template <sender S>
  friend auto operator|(S before, then_closure next) {
    return then_sender<S, F>{std::move(before), std::move(next.f)};
  }
};

template <class... Values>
using joined_values = decltype(std::tuple_cat(std::declval<Values>()...));

/// Sender of the values of several senders, one after the other.
template <class... S>
struct all_sender {
  using values = joined_values<typename S::values...>;
  static constexpr std::size_t count = sizeof...(S);

  /// State that an operation shares with the receivers of its parts.
  template <class R>
  struct common {
    explicit common(R receiver) : to(std::move(receiver)) {}
    std::tuple<std::optional<typename S::values>...> got;
    std::mutex lock;
    std::exception_ptr error;
    bool stopped = false;
    std::atomic<std::size_t> left{count};
    R to;

    void fail(std::exception_ptr with) noexcept {
      std::lock_guard guard(lock);
      if (!error) error = std::move(with);
      if (!error) stopped = true;
    }
    void end_one() noexcept {
      if (left.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
      if (error)
        set_error(std::move(to), std::move(error));
      else if (stopped)
        set_stopped(std::move(to));
      else
        std::apply([&](auto&... one) { send(std::tuple_cat(std::move(*one)...)); }, got);
    }
    template <class... V>
    void send(std::tuple<V...>&& all) noexcept {
      std::apply([&](V&... value) { set_value(std::move(to), std::move(value)...); }, all);
    }
  };
  template <std::size_t n, class R>
  struct receiver {
    template <class... V>
    void set_value(V&&... value) && noexcept {
      try {
        std::get<n>(of->got).emplace(std::forward<V>(value)...);
      } catch (...) {
        of->fail(std::current_exception());
      }
      of->end_one();
    }
    void set_error(std::exception_ptr error) && noexcept {
      of->fail(std::move(error));
      of->end_one();
    }
    void set_stopped() && noexcept {
      of->fail(nullptr);
      of->end_one();
    }
    common<R>* of;
  };
  /// Makes the value of a std::tuple in place, so that it need not be movable.
  template <class Make>
  struct in_place {
    operator std::invoke_result_t<Make>() && { return std::move(make)(); }
    Make make;
  };
  template <class R, class Parts>
  struct operation;
  template <class R, std::size_t... n>
  struct operation<R, std::index_sequence<n...>> {
    template <class Senders>
    operation(Senders&& all, R to)
        : shared(std::move(to)),
          parts(in_place{[&] { return execution::connect(std::get<n>(std::move(all)), receiver<n, R>{&shared}); }}...) {
    }
    operation(const operation&) = delete;
    void start() noexcept { (execution::start(std::get<n>(parts)), ...); }
    common<R> shared;
    std::tuple<decltype(execution::connect(std::declval<S>(), std::declval<receiver<n, R>>()))...> parts;
  };
  template <class R>
  auto connect(R to) && {
    return operation<R, std::index_sequence_for<S...>>(std::move(all), std::move(to));
  }
  std::tuple<S...> all;
};

template <class Values>
struct promise_receiver {
  template <class... V>
  void set_value(V&&... value) && noexcept {
    try {
      to.set_value(std::tuple<std::decay_t<V>...>(std::forward<V>(value)...));
    } catch (...) {
      to.set_exception(std::current_exception());
    }
  }
  void set_error(std::exception_ptr error) && noexcept { to.set_exception(std::move(error)); }
  void set_stopped() && noexcept { to.set_value(std::nullopt); }
  promise<std::optional<Values>> to;
};

}  // namespace detail

/// Returns a sender of these values, which ends where it is started.
template <class... V>
auto just(V&&... values) {
  return detail::just_sender<std::decay_t<V>...>{{std::forward<V>(values)...}};
}
/// Returns a sender that ends in a task of `pool`: what follows it runs in that task.
template <std::derived_from<task::detail::pool_base> Pool>
auto schedule(Pool& pool, task_name name) {
  return detail::schedule_sender<Pool>{&pool, name};
}
/// Returns a sender of the result of a future, which ends in a task of `pool` once the result is ready; meanwhile no
/// worker and no stack waits. The error `cancelled` becomes set_stopped.
template <any_future Future>
auto as_sender(task::detail::scheduler& pool, task_name name, Future result) {
  return detail::future_sender<Future>{&pool, name, std::move(result)};
}
/// Returns a sender of f(values...), called where `before` ends. An exception of f becomes set_error.
template <sender S, class F>
auto then(S before, F f) {
  return detail::then_sender<S, F>{std::move(before), std::move(f)};
}
/// Returns the closure of `sender | then(f)`.
template <class F>
auto then(F f) {
  return detail::then_closure<F>{std::move(f)};
}
/// Returns a sender of the values of all senders. It ends where the last one does; the first error in time wins, and
/// an error wins over a stop.
template <sender... S>
  requires(sizeof...(S) > 0)
auto when_all(S... all) {
  return detail::all_sender<S...>{{std::move(all)...}};
}
/// Starts the work and waits: a task releases its worker. Returns the values, nothing if it was stopped; throws its
/// error.
template <sender S>
std::optional<typename S::values> sync_wait(S work) {
  promise<std::optional<typename S::values>> given;
  auto result = given.get_future();
  auto operation = connect(std::move(work), detail::promise_receiver<typename S::values>{std::move(given)});
  start(operation);
  return result.get();
}

}  // namespace plaq::task::execution
