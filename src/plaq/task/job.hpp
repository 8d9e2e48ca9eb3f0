// Interface of a back end: it runs jobs, and a running job can give its worker away until it is woken.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <string_view>

#include "plaq/task/timer.hpp"
#include "plaq/trace/hooks.hpp"

namespace plaq::task::detail {

class scheduler;

/// Task as seen by back ends. It owns itself: run() or fail() is called once, and it must not be used afterwards.
class job {
 public:
  job(scheduler& home, std::string_view name) : job(home, name, next_identity()) {}
  job(const job&) = delete;
  virtual void run() noexcept = 0;
  /// Called instead of run() if there is no thread or stack for it.
  virtual void fail(std::exception_ptr error) noexcept = 0;

  const std::uint64_t id;
  const std::uint64_t parent;
  scheduler& home;
  void* context = nullptr;  ///< its thread or stack, once started

 protected:
  ~job() = default;

 private:
  struct identity {
    std::uint64_t id, parent;
  };
  /// Identity of a job that the calling task makes.
  static identity next_identity() noexcept;
  job(scheduler& home, std::string_view name, identity as) : id(as.id), parent(as.parent), home(home) {
    trace::created(id, parent, name);
  }
};

/// State of a wait. Waking and going to sleep may happen in either order.
enum class wait_state { awake, asleep, woken };

/// Part of a pool that waits use. suspend and yield are called by the running job itself.
class scheduler {
 public:
  virtual ~scheduler() = default;
  virtual void submit(job& fresh) noexcept = 0;
  /// Announces a job that will start later, by resume(): the pool waits for it.
  virtual void announce() noexcept = 0;
  /// Moves `state` from awake to asleep and returns when resume(self) was called; returns at once if it was woken.
  virtual void suspend(job& self, std::atomic<wait_state>& state) noexcept = 0;
  virtual void resume(job& asleep) noexcept = 0;
  /// Lets others run first.
  virtual void yield(job& self) noexcept = 0;
  /// Index of the worker that runs the calling job.
  virtual int worker_here() const noexcept = 0;

  timer& alarm() noexcept { return alarm_; }

 private:
  timer alarm_;
};

/// Job that the calling thread runs, nullptr outside of tasks. Not inlined, since a task may change its thread wherever
/// it waits, and compilers keep the address of thread-local variables.
[[gnu::noinline]] job* current() noexcept;
[[gnu::noinline]] void set_current(job* running) noexcept;

}  // namespace plaq::task::detail
