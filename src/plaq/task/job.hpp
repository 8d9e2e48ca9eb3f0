// Interface of a back end: it runs jobs, and a running job can give its worker away until it is woken.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

#include "plaq/task/priority.hpp"
#include "plaq/task/timer.hpp"
#include "plaq/trace/hooks.hpp"

namespace plaq::task::detail {

class scheduler;

/// Task as seen by back ends. It owns itself: run() or fail() is called once, and it must not be used afterwards. A job
/// that goes on later, such as a coroutine, calls pause() at the end of its run() and is run again.
class job {
 public:
  /// @pre the pool has the domain of the attributes, else input_error
  job(scheduler& home, std::string_view name, attributes how = {});
  job(const job&) = delete;
  virtual void run() noexcept = 0;
  /// Called instead of run() if there is no thread or stack for it.
  virtual void fail(std::exception_ptr error) noexcept = 0;

  const std::uint64_t id;
  const std::uint64_t parent;
  scheduler& home;
  void* context = nullptr;  ///< its thread or stack, once started
  const attributes how;

  /// Reports that it begins, or goes on after pause(), on this worker.
  void report_start(int worker) const noexcept {
    if (trace::detail::listening()) [[unlikely]]
      paused_ ? trace::resumed(id, worker) : trace::started(id, worker);
  }

 protected:
  ~job() = default;
  /// Leaves the stack for good, in run(): the pool goes on waiting for this job, and home.resume() runs it again.
  void pause() noexcept;

 private:
  struct identity {
    std::uint64_t id, parent;
  };
  /// Identity of a job that the calling task makes.
  static identity next_identity() noexcept;
  job(scheduler& home, std::string_view name, attributes how, identity as)
      : id(as.id), parent(as.parent), home(home), how(how) {
    trace::created(id, parent, name);
  }
  /// Returns the attributes without a domain where the pool has one; input_error if it has no such domain.
  static attributes attributes_in(const scheduler& home, attributes how);
  bool paused_ = false;
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

  /// Number of the domains of memory on which workers are bound: 1 on a machine with one, or without binding.
  int domains() const noexcept { return domains_; }
  /// Domain of a worker of this pool.
  int domain_of(int worker) const noexcept {
    return domains_ == 1 ? 0 : of_worker_[static_cast<std::size_t>(worker) % of_worker_.size()];
  }

 protected:
  /// @param of_worker domain of worker w: of_worker[w % size]; empty: there is one
  explicit scheduler(std::vector<int> of_worker = {});

 private:
  timer alarm_;
  std::vector<int> of_worker_;
  int domains_;
};

inline job::job(scheduler& home, std::string_view name, attributes how)
    : job(home, name, how.ordinary() ? how : attributes_in(home, how), next_identity()) {}

/// Job that the calling thread runs, nullptr outside of tasks. Not inlined, since a task may change its thread wherever
/// it waits, and compilers keep the address of thread-local variables.
[[gnu::noinline]] job* current() noexcept;
[[gnu::noinline]] void set_current(job* running) noexcept;

}  // namespace plaq::task::detail
