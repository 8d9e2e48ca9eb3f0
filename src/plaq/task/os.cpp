#include "plaq/task/os.hpp"

#include <pthread.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "plaq/task/backend_pool_members.hpp"
#include "plaq/task/doorbell.hpp"
#include "plaq/task/meter.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/task/worker_numbers.hpp"

namespace plaq::task {

using detail::gate;
using detail::job;
using detail::wait_state;

namespace {

constexpr unsigned fair = 61;  // now and then the oldest comes first, so that no job starves

/// Queue of jobs for a slot: those of high priority, woken ones, the newest child, the oldest of the others, those of
/// low priority.
class ready_queue {
 public:
  std::size_t size() const { return urgent_.size() + woken_.size() + children_.size() + others_.size() + low_.size(); }
  bool empty() const { return size() == 0; }
  void push_woken(job& j) { push(j, woken_); }
  void push_child(job& j) { push(j, children_); }
  void push_other(job& j) { push(j, others_); }
  /// One that lets others run first.
  void push_last(job& j) { (j.how.priority == priority::low ? low_ : others_).push_back(&j); }

  job* pop() {
    if (!urgent_.empty()) return front_of(urgent_);
    if (++picks_ % fair == 0) {
      if (picks_ / fair % 2 == 0 && !low_.empty()) return front_of(low_);
      if (!others_.empty()) return front_of(others_);
      if (!children_.empty()) return front_of(children_);
    }
    if (!woken_.empty()) return front_of(woken_);
    if (!children_.empty()) {
      job* newest = children_.back();
      children_.pop_back();
      return newest;
    }
    if (!others_.empty()) return front_of(others_);
    return low_.empty() ? nullptr : front_of(low_);
  }

 private:
  void push(job& j, std::deque<job*>& normal) {
    (j.how.priority == priority::high ? urgent_ : j.how.priority == priority::low ? low_ : normal).push_back(&j);
  }
  static job* front_of(std::deque<job*>& queue) {
    job* first = queue.front();
    queue.pop_front();
    return first;
  }
  std::deque<job*> urgent_, woken_, children_, others_, low_;
  unsigned picks_ = 0;
};

/// Kernel thread that runs while it has a slot.
struct os_thread {
  gate turn;
  job* work = nullptr;  ///< job to start, if any
  int slot = -1;
  std::thread thread;
};

}  // namespace

class os::scheduler final : detail::counted_pool, detail::wakeable {
 public:
  scheduler(const detail::scheduler& pool, const detail::placement& where, std::size_t /*stack_size*/)
      : numbers_(where.workers),
        meters_(static_cast<std::size_t>(where.workers)),
        cpus_of_domain_(static_cast<std::size_t>(pool.domains())) {
    for (const auto& cpus : where.cpus) cpus_.insert(cpus_.end(), cpus.begin(), cpus.end());
    for (int w = 0; w < where.workers && pool.domains() > 1; ++w) {
      const auto& cpus = where.cpus[static_cast<std::size_t>(w) % where.cpus.size()];
      std::vector<int>& domain = cpus_of_domain_[static_cast<std::size_t>(pool.domain_of(w))];
      domain.insert(domain.end(), cpus.begin(), cpus.end());
    }
    for (int s = where.workers; s-- > 0;) free_slots_.push_back(s);
    free_.store(free_slots_.size());
  }

  ~scheduler() {
    if (live_.fetch_sub(1) != 1) drained_.wait();
    // The last tasks have ended, their threads are on the way to idle_.
    std::unique_lock lock(mutex_);
    all_idle_.wait(lock, [&] { return idle_.size() == threads_.size(); });
    ending_ = true;
    for (auto& p : threads_) detail::doorbell::open(p->turn);
    lock.unlock();
    for (auto& p : threads_) p->thread.join();
  }

  void announce() { live_.fetch_add(1, std::memory_order_relaxed); }

  void submit(job& fresh) {
    announce();
    const bool child = detail::current();
    std::unique_lock lock(mutex_);
    if (child)
      ready_.push_child(fresh);
    else
      ready_.push_other(fresh);
    use_free_slot(lock);
  }

  void suspend(job& self, std::atomic<wait_state>& state) {
    trace::suspended(self.id);
    std::unique_lock lock(mutex_);  // so that resume() comes after the slot was given away
    auto expected = wait_state::awake;
    if (state.compare_exchange_strong(expected, wait_state::asleep)) {
      leave(self, lock);
    } else {
      trace::resumed(self.id, worker_of(thread_of(self)));  // woken before it slept
    }
  }

  void resume(job& asleep) {
    trace::ready(asleep.id);
    std::unique_lock lock(mutex_);
    ready_.push_woken(asleep);
    use_free_slot(lock);
  }

  void yield(job& self) {
    std::unique_lock lock(mutex_);
    if (ready_.empty()) return;
    trace::suspended(self.id);
    ready_.push_last(self);
    leave(self, lock);
  }

  int worker_here() const { return thread_of(*detail::current()).slot; }

 private:
  void read(pool_counters& into) override {
    into.first_worker = numbers_.first();
    for (const detail::meter& m : meters_) into.workers.push_back(m.read());
    std::lock_guard lock(mutex_);
    into.queued = ready_.size();
    into.tasks = static_cast<std::uint64_t>(std::max(0L, live_.load(std::memory_order_relaxed) - 1));
    into.stacks = threads_.size();
  }

  static os_thread& thread_of(job& started) { return *static_cast<os_thread*>(started.context); }
  int worker_of(const os_thread& here) const { return numbers_.first() + here.slot; }
  detail::meter& meter_of(const os_thread& here) { return meters_[static_cast<std::size_t>(here.slot)]; }

  /// Gives the slot of `self` to the next in line and sleeps until it gets one again.
  void leave(job& self, std::unique_lock<std::mutex>& lock) {
    os_thread& here = thread_of(self);
    meter_of(here).leave();
    give(here.slot, lock);
    await_turn(here);
    meter_of(here).enter();
    trace::resumed(self.id, worker_of(here));
  }

  void use_free_slot(std::unique_lock<std::mutex>& lock) {
    if (free_slots_.empty()) return;
    give(take_slot(), lock);
  }

  /// Gives the slot to the next job, and unlocks.
  void give(int slot, std::unique_lock<std::mutex>& lock) {
    while (job* next = ready_.pop()) {
      os_thread* where = static_cast<os_thread*>(next->context);
      if (!where) {
        try {
          where = &idle_thread();
        } catch (...) {  // no thread available: the job's future has the error
          lock.unlock();
          next->fail(std::current_exception());
          ended();
          lock.lock();
          continue;
        }
        next->context = where;
        where->work = next;
      }
      where->slot = slot;
      lock.unlock();
      detail::doorbell::open(where->turn);
      return;
    }
    free_slots_.push_back(slot);
    free_.store(free_slots_.size());
    lock.unlock();
  }

  /// Sleeps until it gets a slot. While a slot is free and an event is expected, one thread polls.
  void await_turn(os_thread& here) {
    const auto duty = [this] { return free_.load() > 0 && detail::anything_expected(); };
    while (duty() && !watching_.exchange(true)) {
      bool called = false;
      std::optional<std::uint32_t> armed;  // the doorbell, before the last poll
      for (detail::pace pace; !called && duty();) {
        if (detail::poll_once()) pace.again(), armed.reset();
        if (armed) {
          called = detail::doorbell::wait_at(here.turn, *armed, detail::clock::now() + pace.sleep_time());
          armed = detail::doorbell::arm();
        } else {
          if (!pace.wait()) armed = detail::doorbell::arm();
          called = here.turn.try_wait();
        }
      }
      watching_.store(false);
      if (called) {
        if (duty()) wake_idle();  // another takes over
        return;
      }
    }
    here.turn.wait();
  }

  void wake_idle() noexcept override {
    if (watching_.load()) return;
    std::unique_lock lock(mutex_);
    if (free_slots_.empty() || ending_) return;
    os_thread* chosen = nullptr;
    try {
      chosen = &idle_thread();
    } catch (...) {  // no thread available: the next waiting thread polls
      return;
    }
    chosen->slot = take_slot();
    lock.unlock();
    detail::doorbell::open(chosen->turn);
  }

  int take_slot() {
    const int slot = free_slots_.back();
    free_slots_.pop_back();
    free_.store(free_slots_.size());
    return slot;
  }

  os_thread& idle_thread() {
    if (idle_.empty()) {
      auto fresh = std::make_unique<os_thread>();
      idle_.reserve(threads_.size() + 1);
      threads_.reserve(threads_.size() + 1);
      fresh->thread = std::thread([this, p = fresh.get()] { serve(*p); });
      threads_.push_back(std::move(fresh));
      if (!cpus_.empty()) detail::bind_thread(threads_.back()->thread.native_handle(), cpus_);
      return *threads_.back();
    }
    os_thread* last = idle_.back();
    idle_.pop_back();
    return *last;
  }

  void serve(os_thread& here) {
    for (;;) {
      await_turn(here);
      if (ending_) return;
      if (here.work) {
        meter_of(here).enter();
        run(*here.work, here);
        meter_of(here).leave();
        if (meter_of(here).switches() % fair == 0) detail::poll_once();
      }
      leave_for_next(here);
    }
  }

  void run(job& work, const os_thread& here) {
    const bool bound = work.how.domain != detail::attributes::any;
    try {
      if (bound) detail::bind_thread(pthread_self(), cpus_of_domain_[static_cast<std::size_t>(work.how.domain)]);
    } catch (...) {  // the job's future has the error
      work.fail(std::current_exception());
      ended();
      return;
    }
    work.report_start(worker_of(here));
    detail::set_current(&work);
    work.run();
    detail::set_current(nullptr);
    ended();
    if (bound) detail::bind_thread(pthread_self(), cpus_);
  }

  void leave_for_next(os_thread& here) {
    std::unique_lock lock(mutex_);
    here.work = nullptr;
    idle_.push_back(&here);  // a fresh job comes straight back to this thread
    all_idle_.notify_one();
    give(here.slot, lock);
  }

  void ended() {
    if (live_.fetch_sub(1) == 1) drained_.open();
  }

  const detail::worker_numbers numbers_;  // of the slots
  std::vector<detail::meter> meters_;     // of the slots
  std::vector<int> cpus_;                 // binding of all threads
  std::vector<std::vector<int>> cpus_of_domain_;
  std::mutex mutex_;
  ready_queue ready_;
  std::vector<int> free_slots_;
  std::atomic<std::size_t> free_{0};  // their number, to read without the lock
  std::atomic<bool> watching_{false}, ending_{false};
  std::vector<std::unique_ptr<os_thread>> threads_;
  std::vector<os_thread*> idle_;  // last in, first out: the warmest
  std::condition_variable all_idle_;
  std::atomic<long> live_{1};  // tasks, and the pool itself
  gate drained_;
  detail::registration listed_{*this, os::name()};
  detail::polling_pool polls_{*this};
};

template class detail::backend_pool<os>;

}  // namespace plaq::task
