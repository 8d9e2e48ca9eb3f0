// future and promise with the standard's words and rules. A task that waits gives its worker away, a thread
// sleeps.
#pragma once
#include <atomic>
#include <chrono>
#include <concepts>
#include <exception>
#include <future>  // std::future_error, std::future_status
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/task/waiter.hpp"

namespace plaq::task {

namespace detail {

/// What happens when a result is there: one at most per result.
struct continuation {
  void (*call)(continuation&) noexcept;
};

class state_base {
 public:
  state_base(const state_base&) = delete;
  void retain() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  bool ready() const noexcept { return next_.load(std::memory_order_acquire) == &nothing; }
  void wait();
  bool wait_until(clock::time_point deadline);
  /// Publishes what was stored.
  void complete() noexcept;

  std::exception_ptr error;

 protected:
  state_base() = default;
  virtual ~state_base() = default;

 private:
  bool attach(continuation& c);
  static continuation nothing;  // stands for: complete
  std::atomic<continuation*> next_{nullptr};
  std::atomic<int> owners_{1};
};

struct unit {};

template <class T>
class state : public state_base {
 public:
  using stored = std::conditional_t<std::is_void_v<T>, unit, T>;
  std::optional<stored> value;

  T take() {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
    if constexpr (!std::is_void_v<T>) return std::move(*value);
  }
};

template <class State>
class owner {
 public:
  owner() = default;
  explicit owner(State* adopted) noexcept : state_(adopted) {}
  owner(owner&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  owner& operator=(owner&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~owner() {
    if (state_) state_->release();
  }
  explicit operator bool() const noexcept { return state_; }
  State* operator->() const {
    if (!state_) throw std::future_error(std::future_errc::no_state);
    return state_;
  }

 private:
  State* state_ = nullptr;
};

}  // namespace detail

/// Result of a task or a promise. Its destructor does not wait. One task or thread waits for it at a time.
template <class T>
class [[nodiscard]] future {
  static_assert(!std::is_reference_v<T>, "return a pointer or a value");

 public:
  future() = default;
  explicit future(detail::state<T>* adopted) noexcept : state_(adopted) {}

  bool valid() const noexcept { return static_cast<bool>(state_); }
  bool is_ready() const { return state_->ready(); }
  void wait() const { state_->wait(); }
  template <class Rep, class Period>
  std::future_status wait_for(std::chrono::duration<Rep, Period> time) const {
    const bool ready = state_->wait_until(detail::clock::now() + time);
    return ready ? std::future_status::ready : std::future_status::timeout;
  }
  /// Waits, then returns the value or throws what the task threw. Afterwards valid() is false.
  T get() {
    wait();
    auto last = std::exchange(state_, {});
    return last->take();
  }

 private:
  detail::owner<detail::state<T>> state_;
};

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
    if (state_ && !kept_)
      set_exception(std::make_exception_ptr(std::future_error(std::future_errc::broken_promise)));
  }

  future<T> get_future() {
    if (std::exchange(asked_, true)) throw std::future_error(std::future_errc::future_already_retrieved);
    state_->retain();
    return future<T>(state_.operator->());
  }
  template <class... Value>
    requires(std::is_void_v<T> ? sizeof...(Value) == 0
                               : std::constructible_from<typename detail::state<T>::stored, Value...>)
  void set_value(Value&&... value) {
    keep();
    state_->value.emplace(std::forward<Value>(value)...);
    state_->complete();
  }
  void set_exception(std::exception_ptr error) {
    keep();
    state_->error = std::move(error);
    state_->complete();
  }
  void swap(promise& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(asked_, other.asked_);
    std::swap(kept_, other.kept_);
  }

 private:
  void keep() {
    if (std::exchange(kept_, true)) throw std::future_error(std::future_errc::promise_already_satisfied);
  }
  detail::owner<detail::state<T>> state_;
  bool asked_ = false, kept_ = false;
};

}  // namespace plaq::task
