// Barrier of tasks, which can be used again and again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/task/backend.hpp"

namespace plaq::task {

namespace detail {
struct no_completion {
  void operator()() const noexcept {}
};
}  // namespace detail

/// Barrier as std::barrier: once all have arrived, the last of them runs completion() and a new phase begins.
template <Backend B, class Completion = detail::no_completion>
class barrier {
  static_assert(std::is_nothrow_invocable_v<Completion&>, "the completion of a phase must be noexcept");

 public:
  /// Phase of an arrival.
  class arrival_token {
    friend barrier;
    explicit arrival_token(std::uint64_t phase) : phase_(phase) {}
    std::uint64_t phase_;
  };

  explicit barrier(std::ptrdiff_t expected, Completion completion = {})
      : expected_(expected), left_(expected), completion_(std::move(completion)) {}
  barrier(const barrier&) = delete;

  /// Arrives n times.
  ///
  /// @pre n <= arrivals that the phase still expects, else runtime_failure
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t n = 1) {
    std::lock_guard lock(mutex_);
    return arrive_locked(n);
  }
  void wait(arrival_token token) const {
    std::unique_lock lock(mutex_);
    wait_locked(lock, token);
  }
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    wait_locked(lock, arrive_locked(1));
  }
  /// Arrives, and leaves the barrier in later phases.
  void arrive_and_drop() {
    std::lock_guard lock(mutex_);
    check(expected_ > 0, "more left a barrier than were expected");
    --expected_;
    arrive_locked(1);
  }

 private:
  arrival_token arrive_locked(std::ptrdiff_t n) {
    check(n <= left_, "more arrived at a barrier than were expected");
    const arrival_token now(phase_);
    if ((left_ -= n) == 0) {
      completion_();
      left_ = expected_;
      ++phase_;
      next_phase_.notify_all();
    }
    return now;
  }
  void wait_locked(std::unique_lock<typename B::mutex>& lock, arrival_token token) const {
    next_phase_.wait(lock, [&] { return phase_ != token.phase_; });
  }

  mutable typename B::mutex mutex_;
  mutable typename B::condition_variable next_phase_;
  std::ptrdiff_t expected_, left_;
  std::uint64_t phase_ = 0;
  Completion completion_;
};

}  // namespace plaq::task
