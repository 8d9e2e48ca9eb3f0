#include "plaq/collection/runtime/scheduler.hpp"

#include <time.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/collection/runtime/step_clock.hpp"
#include "plaq/task/not_started.hpp"
#include "plaq/task/poller.hpp"

namespace plaq::elements {

namespace {

/// Whether the step takes the message; `index`: of the receive.
bool takes(const step& now, const message& m, std::size_t& index) {
  for (index = 0; index < now.receives.size(); ++index)
    if (now.receives[index].port == m.port) return m.step < now.number;
  return false;
}

/// Polls for messages if the coarse clock has advanced, that is, every few milliseconds. Workers poll when they are
/// idle and every so many tasks; with long tasks that is too seldom for messages to progress during computation.
[[gnu::noinline]] void poll_for_messages() noexcept {
  thread_local timespec last{};
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  if (now.tv_nsec == last.tv_nsec && now.tv_sec == last.tv_sec) return;
  last = now;
  (void)task::detail::poll_once();
}

}  // namespace

scheduler::scheduler(const element_type& type, int rank, task::detail::pool_base& pool, directory& all,
                     termination& end, failure_state& failure, std::function<void(running_step&)> ended)
    : type_(type),
      rank_(rank),
      pool_(pool),
      directory_(all),
      termination_(end),
      failure_(failure),
      ended_(std::move(ended)) {}

void scheduler::issue(std::unique_ptr<step> next) {
  {
    std::lock_guard lock(guard_);
    step& before = steps_.empty() ? front_ : *steps_.back();
    next->number = before.number + 1;
    before.next = next.get();
    steps_.push_back(std::move(next));
  }
  ++issued_;
  std::vector<element*> ready;
  directory_.for_each(
      [&](element& e) {
        if (e.now != element::status::at_end) return;
        if (!e.last_step) e.last_step = step_before(e.next_step);
        if (!e.last_step || !e.last_step->next.load()) return;
        e.now = element::status::running;
        ready.push_back(&e);
      },
      [&] {
        for (element* e : ready) failure_.guard([&] { advance(*e); });
        ready.clear();
      });
}

void scheduler::restart_at(step_number steps) {
  std::lock_guard lock(guard_);
  front_.number = steps - 1;
  issued_ = steps;
}

void scheduler::forget_steps(step_number done) {
  std::lock_guard lock(guard_);
  while (steps_.size() > 1 && steps_.front()->number < done) steps_.pop_front();
}

/// Returns the step before number `next`, or null if this rank's driver has not issued it yet.
step* scheduler::step_before(step_number next) {
  std::lock_guard lock(guard_);
  if (next - 1 == front_.number) return &front_;
  if (steps_.empty() || next - 1 > steps_.back()->number) return nullptr;
  check(next - 1 >= steps_.front()->number, "an element arrives from a step that has ended");
  return steps_[std::size_t(next - 1 - steps_.front()->number)].get();
}

void scheduler::begin(element& e) {
  {
    const auto lock = directory_.lock(e.id);
    e.last_step = step_before(e.next_step);
    if (!e.last_step) {
      e.now = element::status::at_end;  // issue() continues with it
      return;
    }
  }
  advance(e);
}

void scheduler::advance(element& e) {
  step* next = nullptr;
  while (!(next = e.last_step->next.load())) {
    const auto lock = directory_.lock(e.id);
    if (e.last_step->next.load()) continue;
    e.now = element::status::at_end;
    return;
  }
  e.expectations.clear();
  for (const receive& r : next->receives) e.expectations.push_back({r.count(e), 0});
  {
    const auto lock = directory_.lock(e.id);
    for (const message& m : e.inbox)
      if (std::size_t index; takes(*next, m, index))
        if (++e.expectations[index].arrived > e.expectations[index].expected) refuse_extra(e, m);
    e.awaited_step = next;
    e.incomplete =
        std::size_t(std::ranges::count_if(e.expectations, [](const auto& x) { return x.arrived < x.expected; }));
    if (e.incomplete > 0) {
      e.now = element::status::waiting;
      return;
    }
  }
  start(e);
}

bool scheduler::accept(element& e, message&& what) {
  const auto port = std::size_t(what.port);
  if (port < e.taken_until.size() && what.step < e.taken_until[port]) refuse_extra(e, what);
  bool complete = false;
  std::size_t index;
  if (e.now == element::status::waiting && takes(*e.awaited_step, what, index)) {
    auto& expectation = e.expectations[index];
    if (expectation.arrived == expectation.expected) refuse_extra(e, what);
    complete = ++expectation.arrived == expectation.expected && --e.incomplete == 0;
    if (complete) e.now = element::status::running;
  }
  e.inbox.push_back(std::move(what));
  return complete;
}

void scheduler::refuse_extra(const element& e, const message& what) const {
  throw std::runtime_error("rank " + std::to_string(rank_) + ": " + type_.describe(e.id) +
                           ": one message too many of '" + port_name(what.port) + "', from (" +
                           type_.in_words(what.from) + ") in step " + std::to_string(what.step));
}

void scheduler::start(element& e) {
  step& now = *e.awaited_step;
  termination_.begin_task();
  if (!failure_.sound()) return termination_.end_task();
  task::if_not_started lost([this] {
    failure_.raise_here("no memory or stack for a step");
    termination_.end_task();
  });
  (void)pool_.async(now.name, [this, &e, &now, lost = std::move(lost)]() mutable {
    lost.started();
    failure_.guard([&] { run(e, now); });
    poll_for_messages();
    termination_.end_task();
  });
}

void scheduler::take_messages(element& e, const step& now, std::vector<message>& out) {
  const auto lock = directory_.lock(e.id);
  std::size_t kept = 0, index = 0;
  for (message& m : e.inbox)
    if (takes(now, m, index)) {
      out.push_back(std::move(m));
    } else {
      if (&e.inbox[kept] != &m) e.inbox[kept] = std::move(m);
      ++kept;
    }
  e.inbox.resize(kept);
  std::size_t expected = 0;
  for (const auto& x : e.expectations) expected += x.expected;
  std::ranges::sort(out, {}, [](const message& m) { return std::tuple(m.port, m.from, m.step, m.order); });
  if (out.size() > expected) refuse_extra(e, out.back());
  for (const receive& r : now.receives) {
    const auto port = std::size_t(r.port);
    if (e.taken_until.size() <= port) e.taken_until.resize(port + 1, 0);
    e.taken_until[port] = now.number;
  }
}

void scheduler::run(element& e, step& now) {
  running_step running{e, now};
  if (!now.receives.empty()) take_messages(e, now, running.received);
  const auto failed = [&](const std::string& why) {
    return std::runtime_error("rank " + std::to_string(rank_) + ": " + type_.describe(e.id) + ", " + describe(e, now) +
                              ": " + why);
  };
  try {
    if (now.run) {
      if (!e.subject && trace::recording()) e.subject.emplace(type_.describe(e.id));
      const trace::subject_scope subject(e.subject ? &*e.subject : nullptr);
      std::optional<step_clock> clock;
      if (type_.measures) clock.emplace();
      now.run(running);
      if (clock) e.load.seconds += clock->seconds().value_or(0);
    }
  } catch (const std::bad_alloc&) {
    throw failed("out of memory");
  } catch (const std::exception& error) {
    throw failed(error.what());
  } catch (...) {
    throw failed("an exception that is not a std::exception");
  }
  ++e.next_step;
  e.last_step = &now;
  ended_(running);
}

void scheduler::name_port(int port, std::string name) {
  std::lock_guard lock(guard_);
  ports_.resize(std::max(ports_.size(), std::size_t(port) + 1));
  ports_[std::size_t(port)] = std::move(name);
}

std::string scheduler::port_name(int port) const {
  std::lock_guard lock(guard_);
  return std::size_t(port) < ports_.size() ? ports_[std::size_t(port)] : "port " + std::to_string(port);
}

std::string scheduler::describe(const element& e, const step& now) const {
  return (type_.progress ? type_.progress(e) : "step " + std::to_string(now.number)) + " '" +
         std::string(now.name.view()) + "'";
}

std::string scheduler::describe_wait(const element& e) const {
  const step& next = *e.awaited_step;
  std::string out = type_.describe(e.id) + " waits, to begin " + describe(e, next) + ":";
  for (std::size_t i = 0; i < e.expectations.size(); ++i)
    out += (i ? ", " : " ") + std::to_string(e.expectations[i].arrived) + " of " +
           std::to_string(e.expectations[i].expected) + " messages of '" + port_name(next.receives[i].port) + "'";
  return out;
}

}  // namespace plaq::elements
