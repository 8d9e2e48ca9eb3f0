// Execution of pieces of work as tasks.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/base/memory.hpp"
#include "plaq/batch/control.hpp"
#include "plaq/batch/in_flight.hpp"
#include "plaq/batch/queue.hpp"
#include "plaq/batch/task_group.hpp"
#include "plaq/task/backends.hpp"
#include "plaq/task/options.hpp"
#include "plaq/trace/label.hpp"
#include "plaq/trace/policy.hpp"

namespace plaq::batch {

/// Options of a run; no result depends on them.
struct options {
  std::string backend = "fiber";  ///< see task::backends()
  task::options pool{};           ///< workers and their placement
  int in_flight = 0;              ///< pieces in progress at once; 0: a policy adapts the number during the run
  std::function<int(const load_sample&)> decide{};  ///< that policy, called every `sample_every`; empty: in_flight_rule
  std::chrono::milliseconds sample_every{100};
};

/// Query whether a piece should make another step; to be called before each.
using another_step = std::function<bool()>;

namespace detail {

/// Runs a piece on a worker and puts it back.
template <class Piece, class Work>
void visit(queue<Piece>& pieces, Piece p, control& c, const leave_reason& why, Work&& work) {
  bool complete = false;
  try {
    complete = work(p);
  } catch (...) {
    c.fail();  // before the queue hands out the next
    pieces.put_back(std::move(p), false, why);
    throw;
  }
  pieces.put_back(std::move(p), complete, why);
}

}  // namespace detail

/// Advances every piece of the queue until it is complete or `c.stop` is set, at most as many at once as there are
/// slots. Blocks until the queue is closed and empty, or the run is stopped. Errors of a piece are thrown after all
/// have ended; the states of all pieces, also of the failed one, are then back in the queue.
///
/// work(pool, piece, another) runs as a task of this name, makes steps as long as another() returns true, and returns
/// whether the piece is complete. It makes at least one step, unless the run is stopped. Between steps a piece may be
/// recalled or preempted, and resumes later, possibly on another rank: all that it needs has to be part of the piece.
///
/// @pre how.in_flight >= 0, else runtime_failure
template <class Piece, class Work>
void run(queue<Piece>& pieces, const options& how, control& c, trace::label name, Work&& work) {
  check(how.in_flight >= 0, "batch: in_flight is a positive number of slots, or 0 for a policy");
  task::with_backend(how.backend, how.pool, [&](auto& pool) {
    const auto set_slots = [&](int slots) { pieces.set_slots(c.slots = slots); };
    const int first = how.in_flight > 0 ? how.in_flight : pool.workers();
    set_slots(first);
    in_flight_rule rule(first);
    pool_sampler pools;
    std::optional<trace::policy> policy;
    if (how.in_flight == 0)
      policy.emplace(how.sample_every, [&] {
        load_sample now;
        pools.sample(now);
        const auto [waiting, running] = pieces.state();
        now.waiting = waiting;
        now.in_progress = running;
        now.memory = memory_left().share_left();
        set_slots(how.decide ? how.decide(now) : rule.decide(now));
      });
    task_group tasks(pool, c);
    while (auto next = pieces.next(c))
      tasks.begin(name, [&pool, &pieces, &c, &work, p = std::move(*next)]() mutable {
        leave_reason why = leave_reason::none;
        bool visited = false;
        const another_step another = [&] {
          if (c.stop.load() != control::go_on || why != leave_reason::none) return false;
          if (std::exchange(visited, true)) why = pieces.between_steps();
          return why == leave_reason::none;
        };
        detail::visit(pieces, std::move(p), c, why, [&](Piece& piece) { return work(pool, piece, another); });
      });
    tasks.wait();
  });
}

/// Runs pieces that wait for each other, or for those of other ranks: all of the queue at once. Each begins once, even
/// if the run is stopped by then, so that it can release those that wait for it. `beside(group)` begins tasks that run
/// with them.
///
/// @pre the queue is closed, else runtime_failure
template <class Piece, class Work, class Beside>
void run_together(queue<Piece>& pieces, const options& how, control& c, trace::label name, Work&& work,
                  Beside&& beside) {
  task::with_backend(how.backend, how.pool, [&](auto& pool) {
    auto waiting = pieces.all();
    pieces.set_slots(c.slots = int(waiting.size()));
    const another_step another = [&c] { return c.stop.load() == control::go_on; };
    task_group tasks(pool, c);
    beside(tasks);
    for (Piece& next : waiting)
      tasks.begin(name, [&pool, &pieces, &c, &work, another, p = std::move(next)]() mutable {
        const auto here = [&](Piece& piece) { return work(pool, piece, another); };
        detail::visit(pieces, std::move(p), c, leave_reason::none, here);
      });
    tasks.wait();
  });
}

}  // namespace plaq::batch
