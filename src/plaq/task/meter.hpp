// The side of the counters that a back end feeds.
#pragma once
#include <atomic>
#include <chrono>

#include "plaq/task/counters.hpp"

namespace plaq::task::detail {

extern std::atomic<int> timing;  // how many timed_workers there are

/// Counters of one worker. Only the worker itself writes; anybody may read.
class meter {
 public:
  /// Around the time inside of a task.
  void enter() noexcept {
    switches_.store(switches_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (timing.load(std::memory_order_relaxed)) [[unlikely]]
      start_clock();
  }
  void leave() noexcept {
    if (busy_.load(std::memory_order_relaxed) & ticking) [[unlikely]]
      stop_clock();
  }
  void stole() noexcept { steals_.store(steals_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  std::uint64_t switches() const noexcept { return switches_.load(std::memory_order_relaxed); }
  worker_counters read() const noexcept;

 private:
  void start_clock() noexcept;
  void stop_clock() noexcept;

  // Twice the time in tasks; while one runs, less twice the time it began, and odd. So a reader needs one word.
  static constexpr std::uint64_t ticking = 1;
  std::atomic<std::uint64_t> busy_{0}, switches_{0}, steals_{0};
};

/// A pool in the list that for_each_pool walks. To be made last and destroyed first by who implements it.
class counted {
 public:
  virtual void read(pool_counters& into) = 0;

 protected:
  ~counted() = default;
};

/// Makes the pools a source of counters for plaq::trace; more than once is once.
void offer_to_trace();

class registration {
 public:
  registration(counted& pool, std::string_view backend);
  ~registration();
  registration(const registration&) = delete;

 private:
  friend void plaq::task::for_each_pool(const std::function<void(const pool_counters&)>& look);
  counted& pool_;
  const std::string_view backend_;
  const std::uint64_t number_;
  const std::chrono::steady_clock::time_point began_;
};

}  // namespace plaq::task::detail
