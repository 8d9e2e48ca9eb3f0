// Polling of operations that progress only when polled, such as MPI: idle workers and waiting threads poll.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>

namespace plaq::task {

/// Source of events outside of the pools that tasks wait for. poll() is called by a thread outside of the pools while
/// it waits, by one worker of a pool while that is idle, and by every worker now and then.
class poller {
 public:
  poller(const poller&) = delete;

  /// Polls once without waiting; returns whether an event came. One thread at a time calls the pollers of a process.
  /// Continuations that it runs must not wait either.
  virtual bool poll() noexcept = 0;

 protected:
  poller() = default;
  ~poller() { stop_polling(); }

  /// Begins to be polled. To be called at the end of the constructor of a derived class.
  void start_polling() noexcept;
  /// Ends polling; waits for a poll() in progress. To be called by the destructor of a derived class.
  void stop_polling() noexcept;

  /// Adds to the number of expected events. To be called before a poll() can deliver them, for example with the lock
  /// that poll() takes: it does not wait. If it returns true, wake_pools() has to follow, without a lock.
  [[nodiscard]] static bool expect(long more) noexcept;
  /// Wakes a worker in each pool. While an event is expected one stays awake.
  static void wake_pools() noexcept;
  /// Subtracts delivered events. To be called before their waiters are woken, which may wait for other events then.
  static void delivered(long many) noexcept;

 private:
  friend struct polling;
  poller* next_ = nullptr;
};

namespace detail {

/// Number of events that the pollers expect.
extern std::atomic<long> expected;
inline bool anything_expected() noexcept { return expected.load() > 0; }

/// Polls once, unless no event is expected or another thread polls; returns whether an event came.
bool poll_once() noexcept;

/// Pace of an idle thread: it spins; while an event is expected it continues and yields its core each time; in the end
/// it should sleep, for short periods while an event is expected.
class pace {
 public:
  /// Waits a moment; returns false once it is time to sleep.
  bool wait() noexcept;
  /// Returns the time to sleep before the next poll: it grows with the time without an event, since by then the cores
  /// matter more than the delay.
  std::chrono::microseconds sleep_time() noexcept {
    return sleep_time_ = std::min(sleep_time_ + sleep_time_ / 16, longest_sleep);
  }
  void again() noexcept { *this = pace(); }

  static constexpr std::chrono::microseconds shortest_sleep{50}, longest_sleep{500};

 private:
  int rounds_ = 0;
  std::chrono::microseconds sleep_time_ = shortest_sleep;
};

/// Returns whether a pool exists, so that a waiting thread need not poll without a pause.
bool any_pool() noexcept;

/// Interface of a pool for pollers.
class wakeable {
 public:
  /// Wakes an idle worker, if there is one and none is awake.
  virtual void wake_idle() noexcept = 0;

 protected:
  ~wakeable() = default;
};

/// Entry of a pool in the list of pools that poll. To be made last and destroyed first by the class that implements it.
class polling_pool {
 public:
  explicit polling_pool(wakeable& pool);
  ~polling_pool();
  polling_pool(const polling_pool&) = delete;

 private:
  wakeable& pool_;
};

}  // namespace detail

}  // namespace plaq::task
