// Coroutine that a task runs: while it awaits a result it has neither worker nor stack.
#pragma once
#include <coroutine>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "plaq/task/blocks.hpp"
#include "plaq/task/explained.hpp"
#include "plaq/task/future.hpp"
#include "plaq/task/job.hpp"
#include "plaq/task/name.hpp"

namespace plaq::task {

template <class T>
class lazy;

namespace detail {

template <class T, class F>
class coroutine_task;
template <class T>
class awaited_lazy;

/// Job whose coroutine leaves the worker wherever it awaits a result that is not there.
class resumable : public job {
 public:
  /// Runs coroutines one after the other until one awaits a result or the outermost ends. In a loop, since a transfer
  /// from one to the next needs stack in builds without optimisation.
  void run_coroutines() noexcept {
    while (next_ && !awaited_) std::exchange(next_, nullptr).resume();
    if (!awaited_) return finish();
    pause();
    if (!std::exchange(awaited_, nullptr)->attach(*when_ready_)) home.resume(*this);  // it came just now
    // Another worker may run the job already.
  }

  /// Continues with `next`, of this job, once the running coroutine is suspended.
  void transfer(std::coroutine_handle<> next) noexcept { next_ = next; }

  /// Leaves the worker, once the running coroutine is suspended, until the result is there. Continues with `waiting`.
  void await(state_base& result, continuation& when_ready, std::coroutine_handle<> waiting) noexcept {
    awaited_ = &result;
    when_ready_ = &when_ready;
    next_ = waiting;
  }

 protected:
  using job::job;
  ~resumable() = default;
  virtual void finish() noexcept = 0;

  std::coroutine_handle<> next_;  ///< coroutine to resume; none once the outermost has ended

 private:
  state_base* awaited_ = nullptr;
  continuation* when_ready_ = nullptr;
};

/// Awaits a future or shared_future, kept in the frame of the coroutine.
template <class Future>
class awaited_result : continuation {
 public:
  explicit awaited_result(Future result)
      : continuation{[](continuation& c) noexcept -> state_base* {
          resumable& waiting = *static_cast<awaited_result&>(c).waiting_;
          waiting.home.resume(waiting);
          return nullptr;
        }},
        result_(std::move(result)) {}

  bool await_ready() const { return state_of(result_).ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> here) noexcept {
    waiting_ = here.promise().home;
    waiting_->await(state_of(result_), *this, here);
  }
  decltype(auto) await_resume() { return result_.get(); }

 private:
  Future result_;
  resumable* waiting_ = nullptr;
};

template <class Future>
inline constexpr bool is_awaitable = false;
template <class T>
inline constexpr bool is_awaitable<future<T>> = true;
template <class T>
inline constexpr bool is_awaitable<lazy<T>> = true;
template <class T>
inline constexpr bool is_awaitable<shared_future<T>&> = true;
template <class T>
inline constexpr bool is_awaitable<const shared_future<T>&> = true;
template <class T>
inline constexpr bool is_awaitable<shared_future<T>> = true;

/// Value of a co_await that does not compile, so that its use is no further error.
struct awaits_nothing : std::suspend_never {
  struct anything {
    template <class T>
    operator T() const;
  };
  anything await_resume() const noexcept { return {}; }
};

/// Part of the promise of a coroutine that does not depend on its result.
struct lazy_promise_base : in_blocks {
  resumable* home = nullptr;        ///< job that runs it
  std::coroutine_handle<> outside;  ///< coroutine that awaits it; none: the job ends with it

  std::suspend_always initial_suspend() const noexcept { return {}; }
  auto final_suspend() const noexcept {
    struct leave {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<>) const noexcept { home->transfer(to); }
      void await_resume() const noexcept {}
      resumable* home;
      std::coroutine_handle<> to;
    };
    return leave{home, outside};
  }

  template <class T>
  auto await_transform(future<T>&& result) {
    return awaited_result<future<T>>(std::move(result));
  }
  template <class T>
  auto await_transform(shared_future<T> result) {
    return awaited_result<shared_future<T>>(std::move(result));
  }
  template <class T>
  auto await_transform(lazy<T>&& called) {
    return awaited_lazy<T>(std::move(called));
  }
  template <class Other>
    requires(!is_awaitable<Other>)
  awaits_nothing await_transform(Other&&) {
    constexpr bool awaitable = is_awaitable<Other>;
    static_assert(awaitable, "a lazy awaits a shared_future, or uses up a future or a lazy: co_await std::move(f)");
    return {};
  }
};

template <class T>
struct lazy_promise : lazy_promise_base {
  static_assert(!std::is_reference_v<T>, "return a pointer or a value");
  lazy<T> get_return_object() noexcept;
  template <class Value = T>
    requires std::constructible_from<T, Value>
  void return_value(Value&& value) {
    result.value.emplace(std::forward<Value>(value));
  }
  void unhandled_exception() noexcept { result.error = std::current_exception(); }
  outcome<T> result;
};
template <>
struct lazy_promise<void> : lazy_promise_base {
  lazy<void> get_return_object() noexcept;
  void return_void() { result.value.emplace(); }
  void unhandled_exception() noexcept { result.error = std::current_exception(); }
  outcome<void> result;
};

}  // namespace detail

/// Coroutine that begins when it is awaited by another one, or as a task: pool.async("name", f) for an f that returns
/// it. `co_await` takes a future (`co_await std::move(f)`), a shared_future or a lazy, and gives its value or throws
/// its error; a result that is there already costs no switch. Between two awaits it runs as any task, on a stack of its
/// worker, so it may also wait as tasks do. `f` and what it captures live until the coroutine has ended; its arguments
/// by reference must live as long.
template <class T = void>
class [[nodiscard]] lazy {
 public:
  using value_type = T;
  using promise_type = detail::lazy_promise<T>;

  lazy(lazy&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  lazy& operator=(lazy&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~lazy() {
    if (frame_) frame_.destroy();
  }

 private:
  template <class, class>
  friend class detail::coroutine_task;
  friend class detail::awaited_lazy<T>;
  friend promise_type;
  explicit lazy(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

namespace detail {

/// Runs a coroutine in the task that awaits it.
template <class T>
class awaited_lazy {
 public:
  /// @pre it was not moved from, nor awaited before, else std::future_error
  explicit awaited_lazy(lazy<T> called) : called_(std::move(called)) {
    if (!called_.frame_) throw std::future_error(std::future_errc::no_state);
  }
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> here) noexcept {
    lazy_promise<T>& inside = called_.frame_.promise();
    inside.outside = here;
    inside.home = here.promise().home;
    inside.home->transfer(called_.frame_);
  }
  T await_resume() { return called_.frame_.promise().result.take(); }

 private:
  lazy<T> called_;
};

template <class T>
lazy<T> lazy_promise<T>::get_return_object() noexcept {
  return lazy<T>(std::coroutine_handle<lazy_promise>::from_promise(*this));
}
inline lazy<void> lazy_promise<void>::get_return_object() noexcept {
  return lazy<void>(std::coroutine_handle<lazy_promise>::from_promise(*this));
}

/// Job of a function that returns a lazy<T>, and its result, in one piece of memory.
template <class T, class F>
class coroutine_task final : public resumable, public state<T> {
 public:
  template <class G>
  coroutine_task(scheduler& home, task_name name, G&& work)
      : resumable(home, name.view(), name.attributes()), state<T>(2), work_(std::forward<G>(work)) {
    this->producer = id;
  }

  void run() noexcept override {
    if (!next_) try {
        frame_.emplace(std::invoke(std::move(*work_)));
        frame_->frame_.promise().home = this;
        next_ = frame_->frame_;
      } catch (...) {
        return fail(std::current_exception());
      }
    run_coroutines();
  }

  void fail(std::exception_ptr error) noexcept override {
    this->error = std::move(error);
    publish_result();
  }

 private:
  void finish() noexcept override {
    this->store([&]() -> T { return frame_->frame_.promise().result.take(); });
    publish_result();
  }

  void publish_result() noexcept {
    frame_.reset();  // what it holds is destroyed before the result is visible
    work_.reset();
    trace::finished(id);
    this->complete();
    this->release();
  }

  std::optional<F> work_;
  std::optional<lazy<T>> frame_;
};

template <class T>
inline constexpr bool is_lazy<lazy<T>> = true;

}  // namespace detail
}  // namespace plaq::task
