#include "plaq/collection/runtime/scheduler.hpp"

#include <time.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/collection/runtime/step_clock.hpp"
#include "plaq/task/poller.hpp"

namespace plaq::elements {

namespace {

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
                     termination& end, failure_state& failure, std::function<bool(running_step&)> ended)
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

void scheduler::begin(element& e) { advance(e); }

/// Whether a running element has a message to a handler that is known. With the lock of the element's shard.
bool scheduler::has_call(const element& e) const {
  return e.calls.first() && -1 - e.calls.first()->port < handler_count_.load();
}

/// Whether a running element can go on: with handlers, then there is no awaited step, or with its next step, which is
/// then the awaited one. Otherwise the arrival of what is missing starts it.
bool scheduler::is_ready(element& e) {
  e.awaited_step = nullptr;
  step* next = nullptr;
  while (e.called.load(std::memory_order_relaxed) || !e.last_step || !(next = e.last_step->next.load())) {
    const auto lock = directory::lock(e);
    if (has_call(e)) return true;
    if (!e.last_step) e.last_step = step_before(e.next_step);
    if (e.last_step && (next = e.last_step->next.load())) break;
    e.now = element::status::at_end;  // issue() continues with it
    return false;
  }
  e.expectations.clear();
  e.awaited_step = next;
  if (next->receives.empty()) return true;
  for (const receive& r : next->receives) e.expectations.push_back({r.port, r.count_of ? r.count_of(e) : r.count, 0});
  const auto lock = directory::lock(e);
  e.incomplete = 0;
  for (element::expectation& x : e.expectations) {
    const port_queue& from = e.queue_of(x.port);
    x.arrived = from.count_before(next->number);
    if (x.arrived > x.expected) {
      std::size_t n = 0;
      from.for_each([&](const message& m) {
        if (++n > x.expected) refuse_extra(e, m);
      });
    }
    e.incomplete += x.arrived < x.expected;
  }
  if (e.incomplete == 0) {
    take_messages(e);
    return true;
  }
  if (has_call(e)) {
    e.awaited_step = nullptr;
    return true;
  }
  e.now = element::status::waiting;
  return false;
}

/// Takes the messages of the awaited step, which are complete. With the lock of the element's shard.
void scheduler::take_messages(element& e) {
  const step_number now = e.awaited_step->number;
  for (element::expectation& x : e.expectations) {
    port_queue& from = e.queue_of(x.port);
    x.taken = from.take_before(now);
    from.taken_until = now;
  }
}

bool scheduler::accept(element& e, std::unique_ptr<message> what) {
  if (what->port < 0) {
    e.add_call(std::move(what));
    if ((e.now != element::status::waiting && e.now != element::status::at_end) || !has_call(e)) return false;
    e.now = element::status::running;
    e.awaited_step = nullptr;
    return true;
  }
  port_queue& to = e.queue_of(what->port);
  if (what->step < to.taken_until) refuse_extra(e, *what);
  bool complete = false;
  if (e.now == element::status::waiting && what->step < e.awaited_step->number)
    for (element::expectation& x : e.expectations) {
      if (x.port != what->port) continue;
      if (x.arrived == x.expected) refuse_extra(e, *what);
      complete = ++x.arrived == x.expected && --e.incomplete == 0;
      break;
    }
  to.add(std::move(what));
  if (!complete) return false;
  e.now = element::status::running;
  take_messages(e);
  return true;
}

void scheduler::refuse_extra(const element& e, const message& what) const {
  throw std::runtime_error("rank " + std::to_string(rank_) + ": " + type_.describe(e.id) +
                           ": one message too many of '" + port_name(what.port) + "', from (" +
                           type_.in_words(what.from) + ") in step " + std::to_string(what.step));
}

/// Task of steps of an element: of one, and of those that follow at once. Without an element it begins with the
/// handlers of the one that is first.
class scheduler::step_job final : public task::detail::job, public task::detail::in_blocks {
 public:
  step_job(scheduler& of, element* e)
      : job(of.pool_, e ? e->awaited_step->name.view() : std::string_view("messages")),
        of_(of),
        element_(e),
        end_(of.termination_) {}
  void run() noexcept override {
    of_.failure_.guard([this] { of_.run_steps(element_ ? *element_ : of_.first_called()); });
    poll_for_messages();
    finish();
  }
  void fail(std::exception_ptr) noexcept override {
    of_.failure_.raise_here("no memory or stack for a step");
    finish();
  }

 private:
  void finish() noexcept {
    end_.end_task();  // afterwards the scheduler may be gone
    trace::finished(id);
    delete this;
  }
  scheduler& of_;
  element* element_;
  termination& end_;
};

void scheduler::start(element& e) {
  termination_.begin_task();
  if (!failure_.sound()) return termination_.end_task();
  step_job* fresh = nullptr;
  const bool has_step = e.awaited_step != nullptr;  // once in called_, the element may run on another worker
  try {
    if (!has_step) {
      const auto lock = directory::lock(e);
      std::lock_guard guard(guard_);
      called_.push({e.calls.first()->step, calls_begun_++, &e});
    }
    fresh = new step_job(*this, has_step ? &e : nullptr);
  } catch (const std::bad_alloc&) {
    failure_.raise_here("no memory or stack for a step");
    return termination_.end_task();
  }
  pool_.submit(*fresh);
}

void scheduler::add_handler(handler what) {
  {
    std::lock_guard lock(guard_);
    handlers_.push_back(std::move(what));
  }
  ++handler_count_;
  std::vector<element*> ready;
  directory_.for_each(
      [&](element& e) {
        if ((e.now != element::status::waiting && e.now != element::status::at_end) || !has_call(e)) return;
        e.now = element::status::running;
        e.awaited_step = nullptr;
        ready.push_back(&e);
      },
      [&] {
        for (element* e : ready) failure_.guard([&] { start(*e); });
        ready.clear();
      });
}

/// Element whose message to a handler has the highest priority on this rank.
element& scheduler::first_called() {
  std::lock_guard lock(guard_);
  element* const out = called_.top().which;
  called_.pop();
  return *out;
}

/// Runs handlers of an element, one message after the other: for others' turn, no more than so many.
void scheduler::run_calls(element& e) {
  constexpr int most_in_a_row = 61;
  for (int n = 0; n < most_in_a_row && failure_.sound(); ++n) {
    std::unique_ptr<message> next;
    {
      const auto lock = directory::lock(e);
      if (!has_call(e)) return;
      next = e.calls.take_first();
      e.called = e.calls.first() != nullptr;
    }
    const handler* by = nullptr;
    {
      std::lock_guard lock(guard_);
      by = &handlers_[std::size_t(-1 - next->port)];
    }
    measured(e, [&] { return "'" + std::string(by->name.view()) + "'"; }, [&] { by->run(e, *next); });
  }
}

/// Runs the awaited step of an element, and in the same task those that it can begin at once. For a trace, or after so
/// many, the next one gets a task of its own, so that others get their turn.
void scheduler::run_steps(element& e) {
  constexpr int most_in_a_row = 61;
  for (int steps = 1; run(e) && is_ready(e); ++steps) {
    if (steps == most_in_a_row || trace::detail::listening()) return start(e);
    if (!failure_.sound()) return;
    poll_for_messages();
  }
}

/// Calls work() for an element, and measures its time. what() names the work in errors.
template <class What, class Work>
void scheduler::measured(element& e, What what, Work work) {
  const auto failed = [&](const std::string& why) {
    return std::runtime_error("rank " + std::to_string(rank_) + ": " + type_.describe(e.id) + ", " + what() + ": " +
                              why);
  };
  try {
    if (!e.subject && trace::recording()) e.subject.emplace(type_.describe(e.id));
    const trace::subject_scope subject(e.subject ? &*e.subject : nullptr);
    std::optional<step_clock> clock;
    if (type_.measures) clock.emplace();
    work();
    if (clock) e.load.seconds += clock->seconds().value_or(0);
  } catch (const std::bad_alloc&) {
    throw failed("out of memory");
  } catch (const std::exception& error) {
    throw failed(error.what());
  } catch (...) {
    throw failed("an exception that is not a std::exception");
  }
}

/// Runs the awaited step, or handlers where there is none. Returns whether the element goes on.
bool scheduler::run(element& e) {
  if (!e.awaited_step) {
    run_calls(e);
    return true;
  }
  step& now = *e.awaited_step;
  running_step running{e, now};
  for (element::expectation& x : e.expectations) x.taken.sort();
  if (now.run) measured(e, [&] { return describe(e, now); }, [&] { now.run(running); });
  for (element::expectation& x : e.expectations) x.taken.clear();
  ++e.next_step;
  e.last_step = &now;
  return ended_(running);
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
