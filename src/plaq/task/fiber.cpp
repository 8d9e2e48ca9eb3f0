#include "plaq/task/fiber.hpp"

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "plaq/task/backend_pool_members.hpp"
#include "plaq/task/coroutine.hpp"
#include "plaq/task/doorbell.hpp"
#include "plaq/task/job_queue.hpp"
#include "plaq/task/meter.hpp"
#include "plaq/task/overflow.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/task/shared_queues.hpp"
#include "plaq/task/worker_numbers.hpp"

namespace plaq::task {

using detail::gate;
using detail::job;
using detail::job_queue;
using detail::wait_state;

namespace {

constexpr unsigned fair = 61;  // now and then the oldest comes first, so that no job starves

enum class reason { ended, asleep, yielded };

struct worker;

/// Stack of a job that started. Jobs that end without a wait follow each other on it, without a switch.
struct fiber_stack : detail::coroutine {
  explicit fiber_stack(fiber::scheduler& of, std::size_t stack_size)
      : coroutine(stack_size, [](coroutine& self) { static_cast<fiber_stack&>(self).run(); }), of(of) {}
  void run();
  fiber::scheduler& of;
  worker* on = nullptr;  ///< that runs it
  job* work = nullptr;
  reason why_left = reason::ended;
  std::atomic<wait_state>* sleep = nullptr;
  job* handed = nullptr;  ///< at `ended`: next job of the worker, with a stack of its own; none at the end of the pool
};

struct worker {
  int index = 0;   ///< in the pool
  int domain = 0;  ///< of memory
  int number = 0;  ///< in the process
  job_queue ready;
  detail::meter meter;
  gate turn;
  std::vector<std::unique_ptr<fiber_stack>> stacks;  ///< stacks to use again, the warmest last
  std::thread thread;
};

thread_local worker* own_worker = nullptr;
thread_local const void* own_pool = nullptr;

}  // namespace

class fiber::scheduler final : detail::counted_pool, detail::wakeable {
 public:
  scheduler(const detail::scheduler& pool, const detail::placement& where, std::size_t stack_size)
      : stack_size_(stack_size),
        numbers_(where.workers),
        workers_(static_cast<std::size_t>(where.workers)),
        shared_(pool.domains()) {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      workers_[i].index = static_cast<int>(i);
      workers_[i].domain = pool.domain_of(workers_[i].index);
      workers_[i].number = numbers_.first() + workers_[i].index;
    }
    try {
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        workers_[i].thread = std::thread([this, &w = workers_[i]] { serve(w); });
        if (!where.cpus.empty())
          detail::bind_thread(workers_[i].thread.native_handle(), where.cpus[i % where.cpus.size()]);
      }
    } catch (...) {
      stop();
      throw;
    }
  }

  ~scheduler() {
    if (live_.fetch_sub(1) != 1) drained_.wait();
    stop();
  }

  void announce() { live_.fetch_add(1, std::memory_order_relaxed); }

  void submit(job& fresh) {
    announce();
    enqueue(fresh);
  }

  void resume(job& asleep) {
    trace::ready(asleep.id);
    enqueue(asleep);
  }

  void suspend(job& self, std::atomic<wait_state>& state) {
    fiber_stack& here = *static_cast<fiber_stack*>(self.context);
    here.sleep = &state;
    here.why_left = reason::asleep;
    here.leave();
  }

  void yield(job& self) {
    worker& here_now = *this_worker();
    if (here_now.ready.size() == 0 && !shared_.waiting(here_now.domain) && !detail::poll_once()) return;
    fiber_stack& here = *static_cast<fiber_stack*>(self.context);
    here.why_left = reason::yielded;
    here.leave();
  }

  int worker_here() const { return this_worker()->index; }

  /// Called on the stack of a job that has ended: finds the next job. Returns whether it begins on this stack.
  bool continues(fiber_stack& here) {
    worker& self = *here.on;
    self.meter.leave();
    ended();
    job* next = quick_job(self);
    if (!next) {
      detail::set_current(nullptr);
      next = search(self);
    }
    if (next && !next->context) {
      begin(self, here, *next);
      return true;
    }
    detail::set_current(nullptr);
    here.work = nullptr;
    here.handed = next;
    here.why_left = reason::ended;
    return false;
  }

 private:
  void read(pool_counters& into) override {
    into.first_worker = numbers_.first();
    into.queued = shared_.size();
    into.tasks = static_cast<std::uint64_t>(std::max(0L, live_.load(std::memory_order_relaxed) - 1));
    into.stacks = stacks_.load(std::memory_order_relaxed);
    for (const worker& w : workers_) {
      into.workers.push_back(w.meter.read());
      into.workers.back().queued = w.ready.size();
    }
  }

  void enqueue(job& next) {
    worker* const here = this_worker();
    if (!here || !next.how.ordinary()) return enqueue_shared(next);
    here->ready.push_new(next);
    wake_one();
  }

  [[gnu::noinline]] void enqueue_shared(job& next) {
    const std::int16_t domain = next.how.domain;
    shared_.push(next);  // from here on it may have ended
    if (domain == detail::attributes::any)
      wake_one();
    else
      wake_idle_if([domain](const worker* w) { return w->domain == domain; });
  }

  /// Returns the calling worker, if it is one of this pool. Not inlined: a job may have changed its thread.
  [[gnu::noinline]] worker* this_worker() const { return own_pool == this ? own_worker : nullptr; }

  void serve(worker& self) {
    own_worker = &self;
    own_pool = this;
    const detail::overflow_watch names_it;
    for (job* next = find(self); next;) next = run(self, *next);
  }

  /// Begins a job on a stack, or continues it there.
  void begin(worker& self, fiber_stack& on, job& work) {
    on.on = &self;
    if (work.context) {
      trace::resumed(work.id, self.number);
    } else {
      on.work = &work;
      work.context = &on;
      work.report_start(self.number);
    }
    detail::set_current(&work);
    self.meter.enter();
  }

  /// Runs a job, and those that follow it on its stack. Returns the next job of the worker; none at the end of the
  /// pool.
  job* run(worker& self, job& first) {
    fiber_stack* where = static_cast<fiber_stack*>(first.context);
    if (!where) try {
        where = stack_for(self);
      } catch (...) {  // no stack available: the job's future has the error
        first.fail(std::current_exception());
        ended();
        return find(self);
      }
    for (begin(self, *where, first);;) {
      where->enter();
      if (where->why_left == reason::ended) {
        job* const next = where->handed;
        keep(self, where);
        return next;
      }
      job& work = *where->work;
      self.meter.leave();
      detail::set_current(nullptr);
      // Before another worker can take it.
      trace::suspended(work.id);
      if (where->why_left == reason::yielded) {
        if (work.how.domain == detail::attributes::any && work.how.priority != priority::low)
          self.ready.push_old(work);
        else
          shared_.push_last(work);
        return find(self);
      }
      auto expected = wait_state::awake;
      if (where->sleep->compare_exchange_strong(expected, wait_state::asleep)) return find(self);
      begin(self, *where, work);  // woken before it slept
    }
  }

  fiber_stack* stack_for(worker& self) {
    std::unique_ptr<fiber_stack> where;
    if (!self.stacks.empty()) {
      where = std::move(self.stacks.back());
      self.stacks.pop_back();
    } else {
      std::lock_guard lock(spare_lock_);
      if (!spare_stacks_.empty()) {
        where = std::move(spare_stacks_.back());
        spare_stacks_.pop_back();
      }
    }
    if (!where) {
      where = std::make_unique<fiber_stack>(*this, stack_size_);
      stacks_.fetch_add(1, std::memory_order_relaxed);
    }
    return where.release();  // of a job, until it and those that followed it there have ended
  }

  void keep(worker& self, fiber_stack* used) {
    constexpr std::size_t own = 64;
    std::unique_ptr<fiber_stack> back(used);
    if (self.stacks.size() < own) {
      self.stacks.push_back(std::move(back));
    } else {
      std::lock_guard lock(spare_lock_);
      spare_stacks_.push_back(std::move(back));
    }
  }

  void ended() {
    if (live_.fetch_sub(1) == 1) drained_.open();
  }

  // Looking for work: own jobs, the shared ones, those of others; then watch for a moment; then sleep.

  job* find(worker& self) {
    job* const quick = quick_job(self);
    return quick ? quick : search(self);
  }

  /// Newest own job, unless it is the turn of others.
  job* quick_job(worker& self) {
    const bool mine = self.meter.switches() % fair != 0 && !shared_.urgent();
    return mine && self.ready.size() ? self.ready.pop_new() : nullptr;
  }

  [[gnu::noinline]] job* search(worker& self) {
    for (;;) {
      if (job* j = own_job(self)) return j;
      if (job* j = watch(self)) return j;
      if (!sleep(self)) return nullptr;
    }
  }

  job* own_job(worker& self) {
    if (job* j = take_shared(self, priority::high)) return j;
    if (self.meter.switches() % fair == 0) {
      detail::poll_once();
      const bool turn_of_low = self.meter.switches() / fair % 2 == 0;
      if (job* j = turn_of_low ? take_shared(self, priority::low) : nullptr) return j;
      if (job* j = take_shared(self, priority::normal)) return j;
      if (job* j = self.ready.pop_old()) return j;
    }
    if (self.ready.size())
      if (job* j = self.ready.pop_new()) return j;
    if (job* j = take_shared(self, priority::normal)) return j;
    if (!shared_.low_waiting(self.domain)) return nullptr;
    job* const normal = steal_any(self, [](worker& other) { return other.ready.size() > 1; });
    return normal ? normal : take_shared(self, priority::low);
  }

  /// Takes the oldest shared job. Those that arrived while a worker watched have woken none, so the worker that takes
  /// the first wakes another.
  job* take_shared(worker& self, priority p) {
    job* const found = shared_.take(p, self.domain);
    if (found && shared_.waiting_for_any()) wake_one();
    return found;
  }

  /// Steals from the first other worker for which wanted(other).
  template <class Wanted>
  job* steal_any(worker& self, Wanted wanted) {
    job* found = nullptr;
    for (std::size_t step = 1; step < workers_.size() && !found; ++step) {
      worker& other = workers_[(static_cast<std::size_t>(self.index) + step) % workers_.size()];
      if (wanted(other)) found = steal(self, other);
    }
    return found;
  }

  /// Watches for jobs, one worker at a time, so that a wake-up does not set off all and an idle pool costs little.
  job* watch(worker& self) {
    if (watching_.exchange(true)) return nullptr;
    job* found = nullptr;
    std::vector<std::uint64_t> seen(workers_.size());  // switches; unchanged where one is stuck in a long task
    detail::pace pace;
    for (int round = 0; !found; ++round) {
      if (shared_.waiting(self.domain)) found = own_job(self);
      if (!found)
        found = steal_any(self, [&](worker& other) {
          const std::uint64_t switches = other.meter.switches();
          const std::uint64_t before = std::exchange(seen[static_cast<std::size_t>(other.index)], switches);
          const std::size_t size = other.ready.size();
          // Its last job is left to a worker that is about to take it: moving that to another core costs both time.
          return size > 1 || (size == 1 && round > 0 && switches == before);
        });
      if (!found && detail::poll_once()) {
        found = self.ready.pop_new();
        pace.again();
      }
      if (!found && !pace.wait()) break;
    }
    watching_.store(false);
    if (found) wake_one();  // there may be more
    return found;
  }

  job* steal(worker& self, worker& other) {
    std::array<job*, job_queue::most> loot;
    const std::size_t n = other.ready.pop_half(loot);
    if (n == 0) return nullptr;
    self.meter.stole();
    for (std::size_t i = n; i-- > 1;) self.ready.push_new(*loot[i]);
    return loot.front();
  }

  /// Sleeps; returns false at the end of the pool.
  bool sleep(worker& self) {
    {
      std::lock_guard lock(idle_lock_);
      if (stopping_) return false;
      idle_.push_back(&self);
      idle_count_.store(static_cast<int>(idle_.size()));
    }
    // A thread that pushes a job reads idle_count_ afterwards; this one checks the queues after setting it. The queue's
    // lock orders the two, so that one of them sees the other. While another worker watches, that one is in charge, but
    // not of jobs of this worker's domain.
    if ((!watching_.load() && any_job()) || !shared_.empty_of(self.domain)) {
      std::lock_guard lock(idle_lock_);
      if (std::erase(idle_, &self)) {
        idle_count_.store(static_cast<int>(idle_.size()));
        std::this_thread::yield();
        return true;
      }
    }
    while (detail::anything_expected() && !polling_.exchange(true)) {
      const bool awake = sleep_and_poll(self);
      polling_.store(false);
      if (awake) {
        if (detail::anything_expected()) wake_one();  // to take over
        return true;
      }
    }
    self.turn.wait();
    return true;
  }

  /// Sleeps for short periods and polls in between, one sleeping worker at a time, while an event is expected. Returns
  /// whether there is something to do.
  bool sleep_and_poll(worker& self) {
    for (detail::pace pace; detail::anything_expected();) {
      const std::uint32_t armed = detail::doorbell::arm();
      if (!detail::poll_once()) {
        if (detail::doorbell::wait_at(self.turn, armed, detail::clock::now() + pace.sleep_time())) return true;
        continue;
      }
      std::unique_lock lock(idle_lock_);
      const bool asleep = std::erase(idle_, &self);
      idle_count_.store(static_cast<int>(idle_.size()));
      lock.unlock();
      if (!asleep) self.turn.wait();  // it is being opened right now
      return true;
    }
    return false;
  }

  void wake_idle() noexcept override { wake_one(); }

  bool any_job() {
    const auto has_job = [](worker& w) { return !w.ready.empty(); };
    return !shared_.empty() || std::any_of(workers_.begin(), workers_.end(), has_job);
  }

  void wake_one() {
    if (idle_count_.load() == 0 || watching_.load()) return;
    wake_idle_if([](const worker*) { return true; });
  }

  /// Wakes the worker that fell asleep last among those for which wanted(worker).
  template <class Wanted>
  void wake_idle_if(Wanted wanted) {
    worker* sleeper = nullptr;
    {
      std::lock_guard lock(idle_lock_);
      const auto last = std::find_if(idle_.rbegin(), idle_.rend(), wanted);
      if (last == idle_.rend()) return;
      sleeper = *last;
      idle_.erase(std::next(last).base());
      idle_count_.store(static_cast<int>(idle_.size()));
    }
    detail::doorbell::open(sleeper->turn);
  }

  void stop() {
    {
      std::lock_guard lock(idle_lock_);
      stopping_ = true;
      for (worker* w : idle_) detail::doorbell::open(w->turn);
      idle_.clear();
      idle_count_.store(0);
    }
    for (worker& w : workers_)
      if (w.thread.joinable()) w.thread.join();
  }

  const std::size_t stack_size_;
  const detail::worker_numbers numbers_;
  std::vector<worker> workers_;
  detail::shared_queues shared_;
  std::atomic<bool> watching_{false}, polling_{false};
  std::mutex idle_lock_;
  std::vector<worker*> idle_;
  std::atomic<int> idle_count_{0};
  bool stopping_ = false;
  std::mutex spare_lock_;
  std::vector<std::unique_ptr<fiber_stack>> spare_stacks_;
  std::atomic<long> live_{1};  // tasks, and the pool itself
  gate drained_;
  std::atomic<std::uint64_t> stacks_{0};
  detail::registration listed_{*this, fiber::name()};
  detail::polling_pool polls_{*this};
};

void fiber_stack::run() {
  do work->run();
  while (of.continues(*this));
}

template class detail::backend_pool<fiber>;

}  // namespace plaq::task
