#include "plaq/task/os.hpp"

#include <algorithm>
#include <deque>
#include <thread>
#include <vector>

#include "plaq/task/meter.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/task/worker_numbers.hpp"

namespace plaq::task {

using detail::gate;
using detail::job;
using detail::wait_state;

namespace {

constexpr unsigned fair = 61;  // every so often the oldest comes first, so that nobody starves

/// The next job to get a slot: who was woken, then the newest child, then the oldest of the others.
class ready_queue {
 public:
  std::size_t size() const { return woken_.size() + children_.size() + others_.size(); }
  bool empty() const { return size() == 0; }
  void push_woken(job& j) { woken_.push_back(&j); }
  void push_child(job& j) { children_.push_back(&j); }
  void push_other(job& j) { others_.push_back(&j); }

  job* pop() {
    if (++picks_ % fair == 0) {
      if (!others_.empty()) return front_of(others_);
      if (!children_.empty()) return front_of(children_);
    }
    if (!woken_.empty()) return front_of(woken_);
    if (!children_.empty()) {
      job* newest = children_.back();
      children_.pop_back();
      return newest;
    }
    return others_.empty() ? nullptr : front_of(others_);
  }

 private:
  static job* front_of(std::deque<job*>& queue) {
    job* first = queue.front();
    queue.pop_front();
    return first;
  }
  std::deque<job*> woken_, children_, others_;
  unsigned picks_ = 0;
};

/// A kernel thread. It runs when it was given a slot.
struct place {
  gate turn;
  job* work = nullptr;  ///< what to start with, if anything
  int slot = -1;
  std::thread thread;
};

}  // namespace

class os::pool::implementation final : detail::counted, detail::lookout {
 public:
  explicit implementation(const detail::placement& where)
      : numbers_(where.workers), meters_(static_cast<std::size_t>(where.workers)) {
    for (const auto& cpus : where.cpus) cpus_.insert(cpus_.end(), cpus.begin(), cpus.end());
    for (int s = where.workers; s-- > 0;) free_slots_.push_back(s);
    free_.store(free_slots_.size());
  }

  ~implementation() {
    if (live_.fetch_sub(1) != 1) drained_.wait();
    // The last tasks have ended, their threads are on the way to idle_.
    std::unique_lock lock(mutex_);
    all_idle_.wait(lock, [&] { return idle_.size() == places_.size(); });
    ending_ = true;
    for (auto& p : places_) p->turn.open();
    lock.unlock();
    for (auto& p : places_) p->thread.join();
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
      trace::resumed(self.id, worker_of(place_of(self)));  // woken before it slept
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
    ready_.push_other(self);
    leave(self, lock);
  }

  int worker_here() const { return place_of(*detail::current()).slot; }

 private:
  void read(pool_counters& into) override {
    into.first_worker = numbers_.first();
    for (const detail::meter& m : meters_) into.workers.push_back(m.read());
    std::lock_guard lock(mutex_);
    into.queued = ready_.size();
    into.tasks = static_cast<std::uint64_t>(std::max(0L, live_.load(std::memory_order_relaxed) - 1));
    into.stacks = places_.size();
  }

  static place& place_of(job& started) { return *static_cast<place*>(started.place); }
  int worker_of(const place& here) const { return numbers_.first() + here.slot; }
  detail::meter& meter_of(const place& here) { return meters_[static_cast<std::size_t>(here.slot)]; }

  /// Gives the slot of `self` to the next in line and sleeps until it gets one again.
  void leave(job& self, std::unique_lock<std::mutex>& lock) {
    place& here = place_of(self);
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

  /// Unlocks.
  void give(int slot, std::unique_lock<std::mutex>& lock) {
    while (job* next = ready_.pop()) {
      place* where = static_cast<place*>(next->place);
      if (!where) {
        try {
          where = &idle_place();
        } catch (...) {  // no thread to be had: the job's future says so
          lock.unlock();
          next->fail(std::current_exception());
          ended();
          lock.lock();
          continue;
        }
        next->place = where;
        where->work = next;
      }
      where->slot = slot;
      lock.unlock();
      where->turn.open();
      return;
    }
    free_slots_.push_back(slot);
    free_.store(free_slots_.size());
    lock.unlock();
  }

  /// Sleeps until it is given a slot. While a slot is free and something is expected, one thread polls.
  void await_turn(place& here) {
    const auto duty = [this] { return free_.load() > 0 && detail::anything_expected(); };
    while (duty() && !watching_.exchange(true)) {
      bool called = false;
      for (detail::pace pace; !called && duty();) {
        if (detail::poll_once()) pace.again();
        called = pace.wait() ? here.turn.try_wait() : here.turn.wait_until(detail::clock::now() + pace.nap());
      }
      watching_.store(false);
      if (called) {
        if (duty()) rouse();  // another takes over
        return;
      }
    }
    here.turn.wait();
  }

  void rouse() noexcept override {
    if (watching_.load()) return;
    std::unique_lock lock(mutex_);
    if (free_slots_.empty() || ending_) return;
    place* who = nullptr;
    try {
      who = &idle_place();
    } catch (...) {  // no thread to be had: who waits next polls
      return;
    }
    who->slot = take_slot();
    lock.unlock();
    who->turn.open();
  }

  int take_slot() {
    const int slot = free_slots_.back();
    free_slots_.pop_back();
    free_.store(free_slots_.size());
    return slot;
  }

  place& idle_place() {
    if (idle_.empty()) {
      auto fresh = std::make_unique<place>();
      idle_.reserve(places_.size() + 1);
      places_.reserve(places_.size() + 1);
      fresh->thread = std::thread([this, p = fresh.get()] { serve(*p); });
      places_.push_back(std::move(fresh));
      if (!cpus_.empty()) detail::bind_thread(places_.back()->thread.native_handle(), cpus_);
      return *places_.back();
    }
    place* last = idle_.back();
    idle_.pop_back();
    return *last;
  }

  void serve(place& here) {
    for (;;) {
      await_turn(here);
      if (ending_) return;
      if (here.work) {
        meter_of(here).enter();
        run(*here.work, worker_of(here));
        meter_of(here).leave();
        if (meter_of(here).switches() % fair == 0) detail::poll_once();
      }
      leave_for_next(here);
    }
  }

  void run(job& work, int worker) {
    trace::started(work.id, worker);
    detail::set_current(&work);
    work.run();
    detail::set_current(nullptr);
    ended();
  }

  void leave_for_next(place& here) {
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
  std::vector<int> cpus_;                 // what all threads are bound to
  std::mutex mutex_;
  ready_queue ready_;
  std::vector<int> free_slots_;
  std::atomic<std::size_t> free_{0};  // how many; to look at without the lock
  std::atomic<bool> watching_{false}, ending_{false};
  std::vector<std::unique_ptr<place>> places_;
  std::vector<place*> idle_;  // last in, first out: the warmest
  std::condition_variable all_idle_;
  std::atomic<long> live_{1};  // tasks, and the pool itself
  gate drained_;
  detail::registration listed_{*this, os::name()};
  detail::looks looks_{*this};
};

os::pool::pool(const options& given) : pool_base(given), work_(std::make_unique<implementation>(where())) {}
os::pool::~pool() = default;
void os::pool::submit(job& fresh) noexcept { work_->submit(fresh); }
void os::pool::announce() noexcept { work_->announce(); }
void os::pool::suspend(job& self, std::atomic<wait_state>& state) noexcept { work_->suspend(self, state); }
void os::pool::resume(job& asleep) noexcept { work_->resume(asleep); }
void os::pool::yield(job& self) noexcept { work_->yield(self); }
int os::pool::worker_here() const noexcept { return work_->worker_here(); }

}  // namespace plaq::task
