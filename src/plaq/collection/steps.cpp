// What the elements of a host do: a step begins when the one before has ended and its messages are here.
#include <time.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/collection/guarded.hpp"
#include "plaq/collection/host.hpp"
#include "plaq/task/never_begun.hpp"
#include "plaq/task/poller.hpp"

namespace plaq::elements {

namespace {

bool takes(const step& now, const message& m, std::size_t& which) {
  for (which = 0; which < now.receives.size(); ++which)
    if (now.receives[which].port == m.port) return m.step < now.at;
  return false;
}

/// Not inlined: a step that waits may go on in another thread, and compilers keep what they know of one.
struct processor_time {
  std::thread::id thread;
  double seconds;
};
[[gnu::noinline]] processor_time processor_time_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return {std::this_thread::get_id(), double(now.tv_sec) + 1e-9 * double(now.tv_nsec)};
}

/// Workers look for messages when they are idle, and every so many tasks; where tasks are long that is too seldom
/// for messages to travel while others compute. So after some milliseconds (the clock is coarse, and cheap) a step
/// is followed by a look.
[[gnu::noinline]] void look_for_messages() noexcept {
  thread_local timespec last{};
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  if (now.tv_nsec == last.tv_nsec && now.tv_sec == last.tv_sec) return;
  last = now;
  (void)task::detail::poll_once();
}

}  // namespace

std::string host::words_of(const element& e, const step& now) const {
  return (kind_.moment ? kind_.moment(e) : "step " + std::to_string(now.at)) + " '" + std::string(now.name.view()) +
         "'";
}

void host::issue(std::unique_ptr<step> next) {
  need_sound();
  {
    std::lock_guard lock(steps_guard_);
    step& before = steps_.empty() ? front_ : *steps_.back();
    next->at = before.at + 1;
    before.next = next.get();
    steps_.push_back(std::move(next));
  }
  ++issued_;
  std::vector<element*> ready;
  for (shard& in : shards_) {
    {
      std::lock_guard lock(in.guard);
      for (auto& [at, e] : in.here) {
        if (e->now != element::state::at_end) continue;
        if (!e->last) e->last = step_before(e->next);
        if (!e->last || !e->last->next.load()) continue;
        e->now = element::state::runs;
        ready.push_back(e.get());
      }
    }
    for (element* e : ready) guarded([&] { advance(*e); });
    ready.clear();
  }
}

/// Nothing where this rank's driver has not come so far.
step* host::step_before(number next) {
  std::lock_guard lock(steps_guard_);
  if (next - 1 == front_.at) return &front_;
  if (steps_.empty() || next - 1 > steps_.back()->at) return nullptr;
  check(next - 1 >= steps_.front()->at, "an element comes from a step that is over");
  return steps_[std::size_t(next - 1 - steps_.front()->at)].get();
}

/// Of an element that runs, and has nothing to do: begins the next step, or leaves it to who brings what is missing.
void host::advance(element& e) {
  step* next = nullptr;
  while (!(next = e.last->next.load())) {
    std::lock_guard lock(shard_of(e.at).guard);
    if (e.last->next.load()) continue;
    e.now = element::state::at_end;
    return;
  }
  e.mails.clear();
  for (const receive& r : next->receives) e.mails.push_back({r.count(e), 0});
  {
    std::lock_guard lock(shard_of(e.at).guard);
    for (const message& m : e.inbox)
      if (std::size_t which; takes(*next, m, which))
        if (++e.mails[which].here > e.mails[which].expected) too_many(e, m);
    e.waits_for = next;
    e.lacking = std::size_t(std::ranges::count_if(e.mails, [](const auto& m) { return m.here < m.expected; }));
    if (e.lacking > 0) {
      e.now = element::state::waits;
      return;
    }
  }
  start(e, *next);
}

/// With the shard's lock. True if the element has all now, and runs.
bool host::accept(element& e, message&& what) {
  const auto port = std::size_t(what.port);
  if (port < e.taken_until.size() && what.step < e.taken_until[port]) too_many(e, what);
  bool ready = false;
  std::size_t which;
  if (e.now == element::state::waits && takes(*e.waits_for, what, which)) {
    auto& mail = e.mails[which];
    if (mail.here == mail.expected) too_many(e, what);
    ready = ++mail.here == mail.expected && --e.lacking == 0;
    if (ready) e.now = element::state::runs;
  }
  e.inbox.push_back(std::move(what));
  return ready;
}

void host::too_many(const element& e, const message& what) const {
  throw std::runtime_error("rank " + std::to_string(rank()) + ": " + words_of(e.at) + ": a message too many of '" +
                           port_name(what.port) + "', from (" + kind_.in_words(what.from) + ") in step " +
                           std::to_string(what.step));
}

void host::start(element& e, step& now) {
  ++open_;  // before begun_: who finds a task among those begun finds it open until it has ended
  ++begun_;
  if (!sound_) return task_ended();
  task::if_never_begun lost([this] {
    fault("rank " + std::to_string(rank()) + ": " + kind_.name + ": no memory or stack is left for a step");
    task_ended();
  });
  (void)pool_.async(now.name, [this, &e, &now, lost = std::move(lost)]() mutable {
    lost.begins();
    guarded([&] { run(e, now); });
    look_for_messages();
    task_ended();
  });
}

void host::take_messages(element& e, const step& now, std::vector<message>& out) {
  std::lock_guard lock(shard_of(e.at).guard);
  std::size_t kept = 0, which = 0;
  for (message& m : e.inbox)
    if (takes(now, m, which)) {
      out.push_back(std::move(m));
    } else {
      if (&e.inbox[kept] != &m) e.inbox[kept] = std::move(m);
      ++kept;
    }
  e.inbox.resize(kept);
  std::size_t expected = 0;
  for (const auto& mail : e.mails) expected += mail.expected;
  std::ranges::sort(out, {}, [](const message& m) { return std::tuple(m.port, m.from, m.step, m.order); });
  if (out.size() > expected) too_many(e, out.back());
  for (const receive& r : now.receives) {
    const auto port = std::size_t(r.port);
    if (e.taken_until.size() <= port) e.taken_until.resize(port + 1, 0);
    e.taken_until[port] = now.at;
  }
}

void host::run(element& e, step& now) {
  visit here(*this, e, now);
  if (!now.receives.empty()) take_messages(e, now, here.received);
  const auto failed = [&](const std::string& why) {
    return std::runtime_error("rank " + std::to_string(rank()) + ": " + words_of(e.at) + ", " + words_of(e, now) +
                              ": " + why);
  };
  try {
    if (now.run) {
      if (!e.name && trace::recording()) e.name.emplace(words_of(e.at));
      const trace::about which(e.name ? &*e.name : nullptr);
      const auto before = kind_.measures ? processor_time_now() : processor_time{};
      now.run(e, here);
      if (kind_.measures)
        if (const auto after = processor_time_now(); after.thread == before.thread)
          e.spent.seconds += after.seconds - before.seconds;
    }
  } catch (const std::bad_alloc&) {
    throw failed("no memory is left");
  } catch (const std::exception& error) {
    throw failed(error.what());
  } catch (...) {
    throw failed("something was thrown that is no std::exception");
  }
  ++e.next;
  e.last = &now;
  if (now.collects)
    contribute(now, e);  // and goes on, or is held
  else if (here.goes)
    remove(e);
  else if (here.go_to >= 0 && here.go_to != rank())
    move(e, here.go_to);
  else
    advance(e);
}

/// The last to end sends what was collected, and says so to who waits; that one may end all this once the lock is
/// free.
void host::task_ended() noexcept {
  for (auto open = open_.load(); open > 1;)
    if (open_.compare_exchange_weak(open, open - 1)) return;
  std::lock_guard lock(mutex_);
  if (--open_ > 0) return;
  send_collected();
  tally_up();
  changed_.notify_all();
}

}  // namespace plaq::elements
