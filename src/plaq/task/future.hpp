// future, shared_future and promise with the standard's names and rules, and `then` as in the Concurrency TS. A waiting
// task gives its worker away, a waiting thread sleeps.
#pragma once
#include <chrono>
#include <concepts>
#include <exception>
#include <future>  // std::future_error, std::future_status
#include <stop_token>
#include <type_traits>
#include <utility>

#include "plaq/task/deadline.hpp"
#include "plaq/task/explained.hpp"
#include "plaq/task/name.hpp"
#include "plaq/task/producer.hpp"
#include "plaq/task/state.hpp"

namespace plaq::task {

namespace detail {

template <class F, class... Futures>
auto defer(scheduler& pool, task_name name, F&& work, Futures... antecedents);  // deferred.hpp

/// Base of future and shared_future.
template <class T>
class future_base {
 public:
  static_assert(!std::is_reference_v<T>, "return a pointer or a value");
  using value_type = T;

  bool valid() const noexcept { return static_cast<bool>(state_); }
  bool is_ready() const { return state_->ready(); }
  void wait() const {
    state_->wait();
    record_use(state_->producer);
  }
  /// Waits at most that long. A time of zero only looks.
  template <class Rep, class Period>
  std::future_status wait_for(std::chrono::duration<Rep, Period> time) const {
    return used(state_->wait_until(deadline_after(time)));
  }
  /// Waits until that moment of any clock at the latest.
  template <class Clock, class Duration>
  std::future_status wait_until(std::chrono::time_point<Clock, Duration> when) const {
    return used(wait_by(when, [&](clock::time_point deadline) { return state_->wait_until(deadline); }));
  }
  /// Waits and returns whether the result is ready; gives up when the token is stopped.
  bool wait(const std::stop_token& stop) const {
    const bool ready = state_->wait(stop);
    if (ready) record_use(state_->producer);
    return ready;
  }

 protected:
  future_base() = default;
  explicit future_base(owner<state<T>> adopted) noexcept : state_(std::move(adopted)) {}
  friend state<T>& state_of(const future_base& f) { return *f.state_.operator->(); }

  owner<state<T>> state_;

 private:
  std::future_status used(bool ready) const {
    if (ready) record_use(state_->producer);
    return ready ? std::future_status::ready : std::future_status::timeout;
  }
};

}  // namespace detail

template <class T>
class shared_future;

/// Result of a task or a promise, for one owner. Its destructor does not wait.
template <class T>
class [[nodiscard]] future : public detail::future_base<T>, public detail::explained_then<future<T>> {
 public:
  using detail::explained_then<future<T>>::then;
  future() = default;
  explicit future(detail::state<T>* adopted) noexcept
      : detail::future_base<T>(detail::owner<detail::state<T>>(adopted)) {}
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;

  /// Waits, then returns the value or throws the task's exception. Afterwards valid() is false.
  T get() {
    this->wait();
    auto last = std::exchange(this->state_, {});
    return last->take();
  }

  /// Returns the result for any number of users. Afterwards valid() is false.
  shared_future<T> share() noexcept { return shared_future<T>(std::move(*this)); }

  /// Runs f(future) as a task of `pool` once the result is ready; meanwhile no worker and no stack waits. Exceptions of
  /// f go to the returned future. If f returns a future, its result does. Afterwards valid() is false. The destructor
  /// of the pool waits for the task.
  ///
  /// @pre valid(), else std::future_error
  template <class F>
    requires(detail::returns_value<F, future<T>> && !detail::returns_lazy<F, future<T>>)
  auto then(detail::scheduler& pool, task_name name, F&& f) {
    return detail::defer(pool, name, std::forward<F>(f), std::move(*this));
  }

 private:
  friend shared_future<T>;
};

/// Result of a task or a promise, for any number of users; copies share it.
template <class T>
class [[nodiscard]] shared_future : public detail::future_base<T>, public detail::explained_then<shared_future<T>> {
 public:
  using detail::explained_then<shared_future<T>>::then;
  shared_future() = default;
  shared_future(future<T>&& single) noexcept : detail::future_base<T>(std::move(single.state_)) {}

  /// Waits, then returns the value, which lives as long as a shared_future for it, or throws the task's exception.
  std::add_lvalue_reference_t<const T> get() const {
    this->wait();
    return this->state_->value_or_throw();
  }

  /// Continues as future::then; f gets a shared_future, and this one stays valid.
  template <class F>
    requires(detail::returns_value<F, shared_future<T>> && !detail::returns_lazy<F, shared_future<T>>)
  auto then(detail::scheduler& pool, task_name name, F&& f) const {
    return detail::defer(pool, name, std::forward<F>(f), *this);
  }
};

/// Source of a future's value or exception, set once from anywhere: std::promise for futures of tasks. A promise that
/// is destroyed before stores std::future_error, broken_promise. To set twice, or to get two futures, throws
/// std::future_error.
template <class T>
class promise {
 public:
  promise() : state_(new detail::state<T>) {}
  promise(promise&&) = default;
  promise& operator=(promise&& other) noexcept {
    promise(std::move(other)).swap(*this);
    return *this;
  }
  ~promise() {
    if (state_ && !kept_) set_exception(std::make_exception_ptr(std::future_error(std::future_errc::broken_promise)));
  }

  future<T> get_future() {
    if (std::exchange(asked_, true)) throw std::future_error(std::future_errc::future_already_retrieved);
    state_->retain();
    return future<T>(state_.operator->());
  }
  /// Stores the value. If its constructor throws, the exception passes, and the promise can still be kept or broken.
  template <class... Value>
  void set_value(Value&&... value) {
    constexpr bool fits = std::is_void_v<T> ? sizeof...(Value) == 0
                                            : std::constructible_from<typename detail::state<T>::stored, Value...>;
    static_assert(fits, "set_value takes a value of the promise's type, and none for a promise<void>");
    need_open();
    if constexpr (fits) state_->value.emplace(std::forward<Value>(value)...);
    keep();
  }
  void set_exception(std::exception_ptr error) {
    need_open();
    state_->error = std::move(error);
    keep();
  }
  void swap(promise& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(asked_, other.asked_);
    std::swap(kept_, other.kept_);
  }

 private:
  void need_open() const {
    if (kept_) throw std::future_error(std::future_errc::promise_already_satisfied);
  }
  void keep() noexcept {
    kept_ = true;
    state_->producer = detail::current_producer();
    state_->complete();
  }
  detail::owner<detail::state<T>> state_;
  bool asked_ = false, kept_ = false;
};

}  // namespace plaq::task
