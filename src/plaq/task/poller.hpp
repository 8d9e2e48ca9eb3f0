// What goes on only while somebody looks at it, such as MPI: idle workers and waiting threads look.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>

namespace plaq::task {

/// Something outside of the pools that tasks wait for. Who has nothing better to do calls poll(): a thread outside
/// of the pools while it waits, one worker of a pool while that has no work, every worker now and then.
class poller {
 public:
  poller(const poller&) = delete;

  /// Looks once and never waits; true if something came of it. One thread at a time calls the pollers of a
  /// process. What it completes may run continuations, which must not wait either.
  virtual bool poll() noexcept = 0;

 protected:
  poller() = default;
  ~poller() { retire(); }

  /// From here on it is polled. To be called at the end of the constructor of who implements it.
  void enlist() noexcept;
  /// From here on nobody polls; waits for a poll() under way. To be called by the destructor of who implements it.
  void retire() noexcept;

  /// How many more things are waited for. To be called before a poll() can end them, e.g. with the lock that poll()
  /// takes: it does not wait. Where it returns true, look_out() has to follow, with no lock.
  [[nodiscard]] static bool expect(long more) noexcept;
  /// Wakes a worker in each pool. While something is expected one keeps awake.
  static void look_out() noexcept;
  /// So many things have come. To be called before anybody is told, who may wait for others then.
  static void came(long many) noexcept;

 private:
  friend struct polling;
  poller* next_ = nullptr;
};

namespace detail {

/// How many things the pollers wait for.
extern std::atomic<long> expected;
inline bool anything_expected() noexcept { return expected.load() > 0; }

/// Polls once, unless nothing is expected or another thread is at it; true if something came of it.
bool poll_once() noexcept;

/// Paces a thread that has nothing to do: it watches; while something is expected it goes on so and gives its core
/// away each time; in the end it should sleep, or nap while something is expected.
class pace {
 public:
  /// Waits a moment; false once it is time to sleep or nap.
  bool wait() noexcept;
  /// How long to nap before the next look: the longer nothing came, the longer, since by then the cores matter more
  /// than the delay.
  std::chrono::microseconds nap() noexcept { return nap_ = std::min(nap_ + nap_ / 16, longest_nap); }
  void again() noexcept { *this = pace(); }

  static constexpr std::chrono::microseconds shortest_nap{50}, longest_nap{500};

 private:
  int rounds_ = 0;
  std::chrono::microseconds nap_ = shortest_nap;
};

/// Whether a pool exists, so that a waiting thread need not look without a pause.
bool pools_look() noexcept;

/// A pool as those see it who have something to poll for.
class lookout {
 public:
  /// Wakes an idle worker, if there is one and none is awake.
  virtual void rouse() noexcept = 0;

 protected:
  ~lookout() = default;
};

/// A pool in the list of those that look. To be made last and destroyed first by who implements it.
class looks {
 public:
  explicit looks(lookout& pool);
  ~looks();
  looks(const looks&) = delete;

 private:
  lookout& pool_;
};

}  // namespace detail

}  // namespace plaq::task
