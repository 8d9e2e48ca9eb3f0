#include "plaq/task/hpx.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <hpx/execution.hpp>
#include <hpx/init.hpp>
#include <hpx/modules/resource_partitioner.hpp>
#include <hpx/runtime.hpp>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/task/backend_pool_members.hpp"
#include "plaq/task/cores.hpp"
#include "plaq/task/exception_state.hpp"
#include "plaq/task/meter.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/task/worker_numbers.hpp"

namespace plaq::task {

using detail::gate;
using detail::job;
using detail::wait_state;

namespace {

/// HPX's runtime while there are pools.
class runtime {
 public:
  runtime(const detail::placement& where, std::size_t stack_size) {
    std::lock_guard lock(mutex);
    if (pools == 0) {
      its_place = where;
      its_stack_size = stack_size;
      start();
      its_numbers.emplace(where.workers);
    } else if (where != its_place || stack_size != its_stack_size) {
      throw input_error("HPX runs with " + std::to_string(its_place.workers) + " workers and stacks of " +
                        std::to_string(its_stack_size) + " bytes as long as another pool exists; " +
                        std::to_string(where.workers) + " workers and " + std::to_string(stack_size) +
                        " bytes, or another binding, were asked for");
    }
    ++pools;
    first_worker_ = its_numbers->first();
  }
  ~runtime() {
    std::lock_guard lock(mutex);
    if (--pools > 0) return;
    stop();
    its_numbers.reset();
  }
  runtime(const runtime&) = delete;

  /// First worker number, the same for all pools.
  int first_worker() const noexcept { return first_worker_; }

  /// Counts a stack; to be called by each task on the stack that HPX gave it, before anything else. Returns false if
  /// there is no room for more. HPX itself ends the process if the kernel gives it no stack.
  static bool take_stack() noexcept {
    if (stacks.fetch_add(1, std::memory_order_relaxed) < most_stacks) return true;
    give_stack_back();
    return false;
  }
  static void give_stack_back() noexcept { stacks.fetch_sub(1, std::memory_order_relaxed); }
  static runtime_failure no_stack() {
    return runtime_failure("no stack of " + std::to_string(its_stack_size) + " bytes for a task: " +
                           std::to_string(most_stacks) + " tasks have begun and not ended, and vm.max_map_count of " +
                           std::to_string(mappings_allowed()) + " leaves no room for more");
  }

 private:
  static long mappings_allowed() {
    long most = 65530;  // the kernel's default
    std::ifstream("/proc/sys/vm/max_map_count") >> most;
    return most;
  }
  /// Number of stacks with room. A stack and its guard page are two mappings; a quarter is left to stacks that HPX
  /// keeps for later, and to others.
  static long room_for_stacks() {
    std::ifstream maps("/proc/self/maps");
    const auto used = std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
    return std::max(1L, (mappings_allowed() / 4 * 3 - static_cast<long>(used)) / 2);
  }

  static void start() {
    most_stacks = room_for_stacks();
    ::hpx::local::init_params how;
    how.cfg = {"hpx.os_threads=" + std::to_string(its_place.workers),
               "hpx.stacks.small_size=" + std::to_string(its_stack_size), "hpx.bind!=none", "hpx.handle_signals=0"};
    // HPX ties each worker to a hardware thread, also with "none". Its workers are bound as those of the
    // other back ends do.
    ::hpx::register_thread_on_start_func(
        [allowed = detail::allowed_cpus()](std::size_t worker, std::size_t, const char* pool, const char*) {
          const auto& cpus = its_place.cpus;
          if (std::string_view(pool) == "default")
            detail::bind_thread(pthread_self(), cpus.empty() ? allowed : cpus[worker % cpus.size()]);
        });
    how.rp_mode = ::hpx::resource::partitioner_mode::allow_oversubscription;
    how.rp_callback = [](::hpx::resource::partitioner& parts, const auto&) { share_hardware_threads(parts); };
    check(::hpx::local::start(nullptr, 0, nullptr, how), "HPX did not start");
    const std::size_t found = ::hpx::get_os_thread_count();
    if (found == static_cast<std::size_t>(its_place.workers)) return;
    stop();
    throw runtime_failure("HPX has started " + std::to_string(found) + " workers instead of " +
                          std::to_string(its_place.workers));
  }
  static void stop() {
    ::hpx::post([] { ::hpx::local::finalize(); });
    ::hpx::local::stop();
  }

  /// Gives each hardware thread its part of the workers where there are more workers: HPX by itself starts one on each.
  static void share_hardware_threads(::hpx::resource::partitioner& parts) {
    std::vector<const ::hpx::resource::pu*> threads;
    for (const auto& domain : parts.numa_domains())
      for (const auto& core : domain.cores())
        for (const auto& thread : core.pus()) threads.push_back(&thread);
    const std::size_t n = threads.size(), workers = static_cast<std::size_t>(its_place.workers);
    if (n == 0 || workers <= n) return;
    for (std::size_t i = 0; i < n; ++i)
      parts.add_resource(*threads[i], "default", true, workers / n + (i < workers % n));
  }

  static inline std::mutex mutex;
  static inline int pools = 0;
  static inline detail::placement its_place{};
  static inline std::size_t its_stack_size = 0;
  static inline long most_stacks = 0;
  static inline std::atomic<long> stacks{0};
  static inline std::optional<detail::worker_numbers> its_numbers;
  int first_worker_ = 0;
};

/// Type that a job's `context` points to: its HPX thread, once it runs.
using agent = ::hpx::execution_base::agent_ref;

}  // namespace

class hpx::scheduler final : detail::counted_pool, detail::wakeable {
 public:
  scheduler(const detail::scheduler& pool, const detail::placement& where, std::size_t stack_size)
      : pool_(pool), runtime_(where, stack_size), meters_(static_cast<std::size_t>(where.workers)) {}

  ~scheduler() {
    if (live_.fetch_sub(1) != 1) drained_.wait();
    watch_->ending = true;
  }

  void announce() { live_.fetch_add(1, std::memory_order_relaxed); }

  void submit(job& fresh) {
    announce();
    launch(fresh);
  }

  void suspend(job& self, std::atomic<wait_state>& state) {
    if (detail::anything_expected()) wake_idle();
    leave(self);
    auto expected = wait_state::awake;
    if (state.compare_exchange_strong(expected, wait_state::asleep))
      give_away([&] { static_cast<agent*>(self.context)->suspend("plaq::task"); });
    else
      queued_.fetch_add(1, std::memory_order_relaxed);  // woken before it slept
    enter(self);
  }

  void resume(job& asleep) {
    trace::ready(asleep.id);
    if (!asleep.context) return launch(asleep);
    queued_.fetch_add(1, std::memory_order_relaxed);
    static_cast<agent*>(asleep.context)->resume();
  }

  void yield(job& self) {
    leave(self);
    queued_.fetch_add(1, std::memory_order_relaxed);
    give_away([&] { static_cast<agent*>(self.context)->yield("plaq::task"); });
    enter(self);
  }

  int worker_here() const { return static_cast<int>(::hpx::get_worker_thread_num()); }

 private:
  void launch(job& fresh) {
    queued_.fetch_add(1, std::memory_order_relaxed);
    try {
      ::hpx::threads::thread_init_data thread(
          ::hpx::threads::make_thread_function_nullary([this, &fresh] { run(fresh); }), "plaq::task",
          priority_of(fresh), hint_of(fresh));
      ::hpx::threads::register_work(thread);
    } catch (...) {  // no memory, or no stack: the job's future has the error
      queued_.fetch_sub(1, std::memory_order_relaxed);
      fresh.fail(std::current_exception());
      ended();
    }
  }

  static ::hpx::threads::thread_priority priority_of(const job& work) {
    using ::hpx::threads::thread_priority;
    switch (work.how.priority) {
      case priority::high: return thread_priority::high;
      case priority::low: return thread_priority::low;
      default: return thread_priority::normal;
    }
  }
  /// A worker of the job's domain, each in its turn. Others may steal the job.
  ::hpx::threads::thread_schedule_hint hint_of(const job& work) {
    if (work.how.domain == detail::attributes::any) return {};
    const auto workers = static_cast<int>(meters_.size());
    int worker = static_cast<int>(turn_.fetch_add(1, std::memory_order_relaxed) % meters_.size());
    while (pool_.domain_of(worker) != work.how.domain) worker = (worker + 1) % workers;
    return ::hpx::threads::thread_schedule_hint(static_cast<std::int16_t>(worker));
  }

  /// Starts an HPX thread that polls between the others while an event is expected.
  void wake_idle() noexcept override {
    if (watch_->ending || watch_->looking.exchange(true)) return;
    try {
      ::hpx::post([watch = watch_] {
        const auto duty = [&] { return detail::anything_expected() && !watch->ending; };
        do {
          while (duty()) {
            detail::poll_once();
            ::hpx::this_thread::yield();
          }
          watch->looking = false;
        } while (duty() && !watch->looking.exchange(true));
      });
    } catch (...) {  // no memory: the next wait tries again
      watch_->looking = false;
    }
  }

  void run(job& work) {
    if (!runtime::take_stack()) {  // the job's future has the error
      queued_.fetch_sub(1, std::memory_order_relaxed);
      work.fail(std::make_exception_ptr(runtime::no_stack()));
      ended();
      return;
    }
    agent here = ::hpx::execution_base::this_thread::agent();
    work.context = &here;
    queued_.fetch_sub(1, std::memory_order_relaxed);
    started_.fetch_add(1, std::memory_order_relaxed);
    meter_here().enter();
    work.report_start(number_here());
    detail::set_current(&work);
    work.run();
    detail::set_current(nullptr);
    meter_here().leave();
    started_.fetch_sub(1, std::memory_order_relaxed);
    runtime::give_stack_back();
    ended();
  }

  // Before and after a wait, perhaps on another kernel thread.
  void leave(job& self) {
    trace::suspended(self.id);
    meter_here().leave();
    detail::set_current(nullptr);
  }
  void enter(job& self) {
    queued_.fetch_sub(1, std::memory_order_relaxed);
    detail::set_current(&self);
    meter_here().enter();
    trace::resumed(self.id, number_here());
  }
  template <class Switch>
  static void give_away(Switch&& to_others) {
    const detail::exception_state saved = detail::exception_state::exchange({});
    to_others();
    detail::exception_state::exchange(saved);
  }

  int number_here() const { return runtime_.first_worker() + static_cast<int>(::hpx::get_worker_thread_num()); }
  detail::meter& meter_here() { return meters_[::hpx::get_worker_thread_num()]; }

  void ended() {
    if (live_.fetch_sub(1) == 1) drained_.open();
  }

  void read(pool_counters& into) override {
    into.first_worker = runtime_.first_worker();
    into.queued = static_cast<std::uint64_t>(std::max(0L, queued_.load(std::memory_order_relaxed)));
    into.tasks = static_cast<std::uint64_t>(std::max(0L, live_.load(std::memory_order_relaxed) - 1));
    into.stacks = static_cast<std::uint64_t>(std::max(0L, started_.load(std::memory_order_relaxed)));
    for (const detail::meter& m : meters_) into.workers.push_back(m.read());
  }

  const detail::scheduler& pool_;
  runtime runtime_;
  std::vector<detail::meter> meters_;
  std::atomic<unsigned> turn_{0};
  std::atomic<long> queued_{0}, started_{0};
  std::atomic<long> live_{1};  // tasks, and the pool itself
  gate drained_;
  struct watch {
    std::atomic<bool> looking{false}, ending{false};
  };
  std::shared_ptr<watch> watch_ = std::make_shared<watch>();  // also the polling thread's, which may outlive the pool
  detail::registration listed_{*this, hpx::name()};
  detail::polling_pool polls_{*this};
};

template class detail::backend_pool<hpx>;

}  // namespace plaq::task
