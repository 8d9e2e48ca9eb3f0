// What a back end must do: run jobs, and let a running job give its worker away until it is woken.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <string_view>

#include "plaq/task/timer.hpp"

namespace plaq::task::detail {

class scheduler;

/// A task as the back ends see it. It owns itself: run() or fail() is called once, and nothing may touch it
/// afterwards.
class job {
 public:
  job(scheduler& home, std::string_view name);
  job(const job&) = delete;
  virtual void run() noexcept = 0;
  /// Called instead of run() where no thread or stack could be had.
  virtual void fail(std::exception_ptr error) noexcept = 0;

  const std::uint64_t id;
  const std::uint64_t parent;
  scheduler& home;
  void* place = nullptr;  ///< the thread or the stack it lives on, once started

 protected:
  ~job() = default;
};

/// Where a wait stands. Whoever wakes and whoever goes to sleep may come in either order.
enum class wait_state { awake, asleep, woken };

/// The part of a pool that waiting needs. suspend and yield are called by the running job itself.
class scheduler {
 public:
  virtual ~scheduler() = default;
  virtual void submit(job& fresh) noexcept = 0;
  /// A job will start later, by resume(): the pool waits for it.
  virtual void announce() noexcept = 0;
  /// Moves `state` from awake to asleep and returns when resume(self) was called; returns at once if it was woken.
  virtual void suspend(job& self, std::atomic<wait_state>& state) noexcept = 0;
  virtual void resume(job& asleep) noexcept = 0;
  /// Lets others run first.
  virtual void yield(job& self) noexcept = 0;
  /// Which of its workers runs the calling job.
  virtual int worker_here() const noexcept = 0;

  timer& alarm() noexcept { return alarm_; }

 private:
  timer alarm_;
};

/// The job that the calling thread runs, nullptr outside of tasks. Not inlined, for a task may change its thread
/// wherever it waits, and compilers keep the address of thread-local variables.
[[gnu::noinline]] job* current() noexcept;
[[gnu::noinline]] void set_current(job* running) noexcept;

}  // namespace plaq::task::detail
