#include "plaq/dca/solver.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/base/memory.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/task/backends.hpp"
#include "plaq/task/channel.hpp"
#include "plaq/trace/label.hpp"
#include "plaq/trace/policy.hpp"

namespace plaq::dca {

namespace {

// Measures in place, on the task that walks.
template <class Real, class Pool>
class shared_measuring {
 public:
  shared_measuring(Pool&, accumulator& a, const run_options&) : accumulator_(a) {}

  template <class Walk>
  bool operator()(Walk&& walk, double& measuring_seconds) {
    return walk([&](const walker<Real>& w, std::uint64_t index) {
      const stopwatch watch;
      const double waited = accumulator_.waited();
      w.fill(sample_);
      sample_.index = index;
      accumulator_.accumulate(sample_);
      measuring_seconds += watch.seconds() - (accumulator_.waited() - waited);
    });
  }

 private:
  accumulator& accumulator_;
  sample sample_;
};

// Hands samples to a task of their own through a bounded channel; empty samples come back through another.
template <class Real, class Pool>
class split_measuring {
 public:
  split_measuring(Pool& pool, accumulator& a, const run_options& how)
      : pool_(pool), accumulator_(a), depth_(std::max(1, how.channel_depth)) {}

  template <class Walk>
  bool operator()(Walk&& walk, double& measuring_seconds) {
    using backend = typename Pool::backend;
    using slot = std::unique_ptr<sample>;
    task::channel<backend, slot> filled(depth_), empty(depth_ + 1);
    for (int i = 0; i <= depth_; ++i) check(empty.push(std::make_unique<sample>()), "the channel of samples is closed");

    auto measuring = pool_.async("dca accumulator", [&] {
      try {
        while (auto next = filled.pop()) {
          const stopwatch watch;
          const double waited = accumulator_.waited();
          accumulator_.accumulate(**next);
          measuring_seconds += watch.seconds() - (accumulator_.waited() - waited);
          if (!empty.push(std::move(*next))) break;
        }
      } catch (...) {
        empty.close(std::current_exception());
        throw;
      }
    });
    bool complete = false;
    std::exception_ptr error;
    try {
      complete = walk([&](const walker<Real>& w, std::uint64_t index) {
        auto next = empty.pop();
        check(next.has_value(), "the channel of empty samples closed early");
        w.fill(**next);
        (*next)->index = index;
        check(filled.push(std::move(*next)), "the channel of samples closed early");
      });
    } catch (...) {
      error = std::current_exception();
    }
    filled.close();
    measuring.get();
    if (error) std::rethrow_exception(error);
    return complete;
  }

 private:
  Pool& pool_;
  accumulator& accumulator_;
  int depth_;
};

template <class Real, template <class, class> class Measuring, class Pool>
void run_chain(Pool& pool, std::shared_ptr<const problem> p, chain_state& state, const run_options& how,
               control& c, chain_queue& queue, g4_spread* spread, chain_queue::leave& why) {
  chain_walk<Real> walk(p, state.number, c);
  std::optional<g4_spread::source> source;
  if (spread) source.emplace(*spread, int(state.number));
  accumulator measured(p, state.number, source ? &*source : nullptr);
  Measuring<Real, Pool> measure(pool, measured, how);

  if (!state.warm) {
    const stopwatch watch;
    if (!walk.warm_up(state.current)) return;
    state.walking_seconds += watch.seconds();
    state.current = walk.current().current();
    state.drift = std::max(state.drift, walk.drift());
    state.warm = true;
  }
  const std::uint32_t first_bin = state.bins_done;
  while (!state.complete(*p) && c.stop.load() == control::go_on) {
    if (!spread && state.bins_done > first_bin && (why = queue.between_bins()) != chain_queue::leave::no) return;
    const std::uint64_t bin = state.bins_done;
    measured.begin_bin(bin);
    double measuring = 0, waited = measured.waited();
    const stopwatch watch;
    const bool complete = measure(
        [&](auto&& sink) {
          return walk.bin(state.current, bin, [&](const walker<Real>& w, std::uint64_t index) {
            sink(w, index);
            c.measurements.fetch_add(1, std::memory_order_relaxed);
          });
        },
        measuring);
    if (!complete) return;
    const double total = watch.seconds();
    waited = measured.waited() - waited;
    state.bins.push_back(measured.end_bin());
    ++state.bins_done;
    state.current = walk.current().current();
    state.drift = std::max(state.drift, walk.drift());
    const move_counts moves = walk.moves_of_bin();
    state.moves.proposed += moves.proposed;
    state.moves.accepted += moves.accepted;
    state.measuring_seconds += measuring;
    state.walking_seconds += how.split ? total : total - measuring - waited;
  }
}

/// Places to begin with. A chain always has something to run, so as many as there are workers keep these busy; one
/// of two tasks may have something for two. One that waits for messages leaves its worker to others.
int first_places(const run_options& how, int workers, int chains, bool spread) {
  if (spread) return std::max(1, chains);
  if (how.in_flight > 0) return how.in_flight;
  return how.split ? (workers + 1) / 2 : workers;
}

template <class Real, template <class, class> class Measuring, class Pool>
void run_all(Pool& pool, std::shared_ptr<const problem> p, chain_queue& queue, const run_options& how, control& c,
             g4_spread* spread) {
  std::vector<typename Pool::backend::template future<void>> running;
  const auto begin = [&](trace::label name, auto work) {
    running.push_back(pool.async(name, [work, &c] {
      try {
        work();
      } catch (...) {
        c.stop = control::finish_bins;  // the others keep what they have
        throw;
      }
    }));
  };
  const auto set_places = [&](int places) { queue.set_places(c.places = places); };
  const int first_number = first_places(how, pool.workers(), queue.state().waiting, spread != nullptr);
  set_places(first_number);
  in_flight_rule rule(first_number);
  pool_watch pools;
  std::optional<trace::policy> policy;
  if (how.in_flight == 0 && !spread)
    policy.emplace(how.look_every, [&] {
      pressure now;
      pools.look(now);
      const auto [waiting, running] = queue.state();
      now.waiting = waiting;
      now.under_way = running;
      now.memory = memory_left().share_left();
      set_places(how.decide ? how.decide(now) : rule.decide(now));
    });
  if (spread)
    for (int chain = 0; chain < spread->chains(); ++chain)
      if (!spread->runs_here(chain))
        begin("dca g4 of another rank", [spread, chain] { spread->follow(chain); });
  // With other ranks' help every chain begins, once: they wait for what it measures, or for its end.
  while (auto next = queue.next(spread ? nullptr : &c))
    begin("dca chain", [&pool, p, &queue, &how, &c, spread, state = std::make_shared<chain_state>(std::move(*next))] {
      auto why = spread ? chain_queue::leave::recalled : chain_queue::leave::no;
      const auto put_back = [&] { queue.put_back(std::move(*state), state->complete(*p), why); };
      try {
        run_chain<Real, Measuring>(pool, p, *state, how, c, queue, spread, why);
      } catch (...) {
        c.stop = control::finish_bins;  // before the queue gives out the next
        put_back();
        throw;
      }
      put_back();
    });
  std::exception_ptr first;
  for (auto& chain : running) try {
      chain.get();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  if (first) std::rethrow_exception(first);
}

}  // namespace

void run_chains(std::shared_ptr<const problem> p, chain_queue& queue, const run_options& how, control& c,
                g4_spread* spread) {
  check(p != nullptr, "run_chains: no problem given");
  task::with_backend(how.backend, how.pool, [&](auto& pool) {
    using Pool = std::remove_reference_t<decltype(pool)>;
    if (p->single_precision)
      how.split ? run_all<float, split_measuring, Pool>(pool, p, queue, how, c, spread)
                : run_all<float, shared_measuring, Pool>(pool, p, queue, how, c, spread);
    else
      how.split ? run_all<double, split_measuring, Pool>(pool, p, queue, how, c, spread)
                : run_all<double, shared_measuring, Pool>(pool, p, queue, how, c, spread);
  });
}

}  // namespace plaq::dca
