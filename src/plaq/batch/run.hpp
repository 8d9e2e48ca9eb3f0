// Runs pieces of work as tasks.
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

/// How pieces are run; nothing in here changes what they come to.
struct options {
  std::string backend = "fiber";  ///< see task::backends()
  task::options pool{};           ///< workers and where they run
  int in_flight = 0;              ///< pieces under way at once; 0: a policy looks for the number while they run
  std::function<int(const pressure&)> decide{};  ///< that policy, called every `look_every`; empty: in_flight_rule
  std::chrono::milliseconds look_every{100};
};

/// Whether a piece is to make another step; to be asked before each.
using another_step = std::function<bool()>;

namespace detail {

/// One visit of a piece to a worker.
template <class Piece, class Work>
void visit(queue<Piece>& pieces, Piece p, control& c, const leave& why, Work&& work) {
  bool complete = false;
  try {
    complete = work(p);
  } catch (...) {
    c.fail();  // before the queue gives out the next
    pieces.put_back(std::move(p), false, why);
    throw;
  }
  pieces.put_back(std::move(p), complete, why);
}

}  // namespace detail

/// Takes every piece of the queue on from its state until it is complete or `c.stop` is set, no more of them at
/// once than there are places. Blocks the caller until the queue is closed and empty, or the run is stopped. Errors
/// of a piece are thrown after all have ended; states of all, that one too, are back in the queue as the work left
/// them.
///
/// work(pool, piece, another) runs as a task of this name, makes steps as long as another() says so, and returns
/// whether the piece is complete. A visit has one step at least, unless the run is stopped; between steps a piece
/// may be called back or have to make way, and goes on in another visit, maybe on another rank: what it is to keep
/// belongs into the piece.
template <class Piece, class Work>
void run(queue<Piece>& pieces, const options& how, control& c, trace::label name, Work&& work) {
  check(how.in_flight >= 0, "batch: a number of places is positive, or 0 for a policy");
  task::with_backend(how.backend, how.pool, [&](auto& pool) {
    const auto set_places = [&](int places) { pieces.set_places(c.places = places); };
    const int first = how.in_flight > 0 ? how.in_flight : pool.workers();
    set_places(first);
    in_flight_rule rule(first);
    pool_watch pools;
    std::optional<trace::policy> policy;
    if (how.in_flight == 0)
      policy.emplace(how.look_every, [&] {
        pressure now;
        pools.look(now);
        const auto [waiting, running] = pieces.state();
        now.waiting = waiting;
        now.under_way = running;
        now.memory = memory_left().share_left();
        set_places(how.decide ? how.decide(now) : rule.decide(now));
      });
    crew all(pool, c);
    while (auto next = pieces.next(c))
      all.begin(name, [&pool, &pieces, &c, &work, p = std::move(*next)]() mutable {
        leave why = leave::no;
        bool visited = false;
        const another_step another = [&] {
          if (c.stop.load() != control::go_on || why != leave::no) return false;
          if (std::exchange(visited, true)) why = pieces.between_steps();
          return why == leave::no;
        };
        detail::visit(pieces, std::move(p), c, why, [&](Piece& piece) { return work(pool, piece, another); });
      });
    all.wait();
  });
}

/// The same for pieces that wait for each other, or for those of other ranks: all of the queue, which has to be
/// closed, are under way at once, and each begins, once, even if the run is stopped by then, so that it can tell
/// those who wait. `beside(crew)` begins tasks that run with them.
template <class Piece, class Work, class Beside>
void run_together(queue<Piece>& pieces, const options& how, control& c, trace::label name, Work&& work,
                  Beside&& beside) {
  task::with_backend(how.backend, how.pool, [&](auto& pool) {
    auto waiting = pieces.all();
    pieces.set_places(c.places = int(waiting.size()));
    const another_step another = [&c] { return c.stop.load() == control::go_on; };
    crew all(pool, c);
    beside(all);
    for (Piece& next : waiting)
      all.begin(name, [&pool, &pieces, &c, &work, another, p = std::move(next)]() mutable {
        const auto here = [&](Piece& piece) { return work(pool, piece, another); };
        detail::visit(pieces, std::move(p), c, leave::no, here);
      });
    all.wait();
  });
}

}  // namespace plaq::batch
