// Counters as a back end updates them.
#pragma once
#include <atomic>
#include <chrono>

#include "plaq/task/counters.hpp"

namespace plaq::task::detail {

extern std::atomic<int> timing;  // how many timed_workers there are

/// Counters of one worker, written by the worker alone, read by any thread.
class meter {
 public:
  /// Begins the time inside of a task; leave() ends it.
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

/// Pool in the list of for_each_pool. To be made last and destroyed first by the class that implements it.
class counted_pool {
 public:
  virtual void read(pool_counters& into) = 0;

 protected:
  ~counted_pool() = default;
};

/// Registers the pools as a source of counters for plaq::trace, once.
void offer_to_trace();

class registration {
 public:
  registration(counted_pool& pool, std::string_view backend);
  ~registration();
  registration(const registration&) = delete;

 private:
  friend void plaq::task::for_each_pool(const std::function<void(const pool_counters&)>& visit);
  counted_pool& pool_;
  const std::string_view backend_;
  const std::uint64_t number_;
  const std::chrono::steady_clock::time_point began_;
};

}  // namespace plaq::task::detail
