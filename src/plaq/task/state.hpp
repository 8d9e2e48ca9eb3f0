// State shared by a future and the producer of its result, and the continuations of the result.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <future>  // std::future_error
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "plaq/task/blocks.hpp"
#include "plaq/task/waiter.hpp"

namespace plaq::task::detail {

class state_base;

/// Continuation of a result. They run in the order in which they were attached.
struct continuation {
  /// Function that returns a share of a state that is to be completed next, or nullptr: so long chains need no
  /// recursion.
  state_base* (*call)(continuation&) noexcept;
  continuation* next = nullptr;
};

class state_base : public in_blocks {
 public:
  state_base(const state_base&) = delete;
  void retain() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // The last owner is alone, so it needs no atomic change.
    if (owners_.load(std::memory_order_acquire) == 1 || owners_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

  bool ready() const noexcept { return list_.load(std::memory_order_acquire) == &there; }
  void wait() noexcept;
  /// Waits until `deadline` or until the token is stopped; returns whether the result is ready.
  bool wait_until(clock::time_point deadline) noexcept;
  bool wait(const std::stop_token& stop) noexcept;

  /// Attaches a continuation; returns false, and it will not be called, if the result is ready already.
  bool attach(continuation& c) noexcept;
  /// Detaches a continuation; returns false if its call was made or is in progress.
  bool detach(continuation& c) noexcept;
  /// Publishes the stored result.
  void complete() noexcept {
    continuation* nobody = nullptr;
    if (!list_.compare_exchange_strong(nobody, &there, std::memory_order_acq_rel, std::memory_order_relaxed))
      complete_and_continue();
  }

  std::uint64_t producer = 0;  ///< the task that produced it, as trace knows it

 protected:
  state_base() = default;
  explicit state_base(int owners) noexcept : owners_(owners) {}
  virtual ~state_base() = default;

 private:
  void complete_and_continue() noexcept;
  template <class How>
  bool wait_or(How how) noexcept;
  continuation* publish() noexcept;
  continuation* replace_list(continuation* next) noexcept;

  // The newest first; or one of these: the result is ready, the list is being changed.
  static continuation there, changing;
  std::atomic<continuation*> list_{nullptr};
  std::atomic<int> owners_{1};
};

struct unit {};

/// Value or error of a function that returns T.
template <class T>
struct outcome {
  using stored = std::conditional_t<std::is_void_v<T>, unit, T>;
  std::exception_ptr error;
  std::optional<stored> value;

  /// Stores the result or the exception of work().
  template <class F>
  void store(F&& work) noexcept {
    try {
      if constexpr (std::is_void_v<T>)
        std::forward<F>(work)(), value.emplace();
      else
        value.emplace(std::forward<F>(work)());
    } catch (...) {
      error = std::current_exception();
    }
  }

  T take() {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
    if constexpr (!std::is_void_v<T>) return std::move(*value);
  }
  std::add_lvalue_reference_t<const T> value_or_throw() const {
    if (error) std::rethrow_exception(error);
    if constexpr (!std::is_void_v<T>) return *value;
  }
};

template <class T>
class state : public state_base, public outcome<T> {
 public:
  using state_base::state_base;
};

/// Share of a state: as many owners as were adopted, retained or copied.
template <class State>
class owner {
 public:
  owner() = default;
  explicit owner(State* adopted) noexcept : state_(adopted) {}
  owner(owner&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  owner(const owner& other) noexcept : state_(other.state_) {
    if (state_) state_->retain();
  }
  owner& operator=(owner other) noexcept {
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

}  // namespace plaq::task::detail
