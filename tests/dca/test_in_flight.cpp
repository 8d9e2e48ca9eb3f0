#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "plaq/dca/chain_queue.hpp"
#include "plaq/dca/in_flight.hpp"
#include "plaq/dca/solver.hpp"
#include "plaq/task/fiber.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

/// A machine on which a chain has a walker that always runs and an accumulator that runs a part of the time.
struct machine {
  int workers, chains;
  double accumulating;
  pressure seen(int places) const {
    const int under_way = std::min(places, chains);
    const double runnable = under_way * (1 + accumulating), left = runnable - workers;
    return {.idle = left < 0 ? -left / workers : 0,
            .ready = left >= 1 ? std::uint64_t(left) : 0,
            .under_way = under_way,
            .waiting = chains - under_way,
            .memory = 0.5};
  }
};

int settled(in_flight_rule& rule, const machine& m) {
  int last = 0, same = 0;
  for (int look = 0; look < 1000 && same < 5 * in_flight_rule::patience; ++look) {
    const int next = rule.decide(m.seen(rule.places()));
    same = next == last ? same + 1 : 0;
    last = next;
  }
  EXPECT_GE(same, 5 * in_flight_rule::patience) << "it has to come to rest";
  return last;
}

TEST(InFlight, RisesFromOneWhileWorkersIdle) {
  in_flight_rule rule(1);
  EXPECT_EQ(rule.decide({.idle = 0.5, .under_way = 1, .waiting = 3}), 2);
  EXPECT_EQ(rule.decide({.idle = 0.5, .under_way = 1, .waiting = 2}), 2) << "not before the last place is taken";
  EXPECT_EQ(rule.decide({.idle = 0.5, .under_way = 2, .waiting = 2}), 3);
  EXPECT_EQ(rule.decide({.idle = 0.02, .under_way = 3, .waiting = 1}), 3) << "busy";
  EXPECT_EQ(rule.decide({.idle = 0.5, .under_way = 3, .waiting = 0}), 3) << "no chain is left";
}

TEST(InFlight, SettlesWhereWorkersAreBusyAndNothingWaits) {
  for (const int start : {1, 8, 32}) {
    in_flight_rule alone(start), half(start), pairs(start);
    EXPECT_EQ(settled(alone, {8, 32, 0.0}), 8) << start;
    EXPECT_EQ(settled(half, {8, 32, 0.5}), 6) << start;
    EXPECT_EQ(settled(pairs, {8, 32, 1.0}), 4) << start;
  }
  in_flight_rule few(1);
  EXPECT_EQ(settled(few, {8, 3, 0.5}), 3) << "all there are";
}

TEST(InFlight, NeverGoesBackToWhereWorkersIdled) {
  in_flight_rule rule(1);
  rule.decide({.idle = 0.5, .under_way = 1, .waiting = 9});
  for (int look = 0; look < 100; ++look) EXPECT_EQ(rule.decide({.ready = 1, .under_way = 2, .waiting = 8}), 2);
}

TEST(InFlight, MemoryComesFirst) {
  in_flight_rule rule(6);
  const double short_of = in_flight_rule::scarce / 2;
  const double little = (in_flight_rule::scarce + in_flight_rule::enough) / 2;
  EXPECT_EQ(rule.decide({.idle = 0.5, .under_way = 6, .waiting = 9, .memory = little}), 6);
  EXPECT_EQ(rule.decide({.under_way = 6, .waiting = 9, .memory = short_of}), 5);
  EXPECT_EQ(rule.decide({.under_way = 6, .waiting = 9, .memory = short_of}), 5) << "one has to end its bin first";
  EXPECT_EQ(rule.decide({.under_way = 5, .waiting = 10, .memory = short_of}), 4);
  for (int under_way : {4, 3, 2, 1}) rule.decide({.under_way = under_way, .waiting = 9, .memory = short_of});
  EXPECT_EQ(rule.places(), 1) << "one goes on";
}

TEST(InFlight, SeesIdleWorkersAndTasksThatWait) {
  task::fiber::pool pool({.workers = 2, .bind = task::binding::none});
  pool_watch watch;
  pressure now;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  watch.look(now);
  EXPECT_EQ(now.ready, 0u);
  EXPECT_GT(now.idle, 0.9);

  std::atomic<int> running{0};
  std::atomic<bool> stop{false};
  std::vector<task::fiber::future<void>> tasks;
  for (int i = 0; i < 5; ++i)
    tasks.push_back(pool.async("runs", [&] {
      ++running;
      while (!stop) std::this_thread::yield();
    }));
  while (running < 2) std::this_thread::yield();
  watch.look(now);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  watch.look(now);
  EXPECT_EQ(now.ready, 3u);
  EXPECT_LT(now.idle, 0.01);
  stop = true;
  for (auto& t : tasks) t.get();
}

/// Three chains, numbered from 0, and two places.
struct Places : testing::Test {
  chain_queue queue;
  control c;
  using leave = chain_queue::leave;
  Places() {
    for (auto& s : fresh(3, [](int) { return true; })) queue.add(std::move(s));
    queue.close();
    queue.set_places(2);
  }
  chain_state next() { return queue.next(&c).value(); }
};

TEST_F(Places, ChainsComeInTheirOrder) {
  auto first = next(), second = next();
  EXPECT_EQ(first.number, 0u);
  EXPECT_EQ(second.number, 1u);
  EXPECT_EQ(queue.state().running, 2);
  EXPECT_EQ(queue.state().waiting, 1);
  EXPECT_EQ(queue.between_bins(), leave::no);
  queue.put_back(std::move(first), true, leave::no);
  auto third = next();
  EXPECT_EQ(third.number, 2u);
  queue.put_back(std::move(second), true, leave::no);
  queue.put_back(std::move(third), true, leave::no);
  EXPECT_FALSE(queue.next(&c));
}

TEST_F(Places, WhoMakesWayGoesOnLater) {
  auto first = next(), second = next();
  queue.set_places(1);
  EXPECT_EQ(queue.between_bins(), leave::makes_way);
  EXPECT_EQ(queue.between_bins(), leave::no) << "one is enough";
  EXPECT_EQ(queue.state().running, 2) << "until its sums are gone";
  queue.put_back(std::move(second), false, leave::makes_way);
  EXPECT_EQ(queue.between_bins(), leave::no);
  queue.put_back(std::move(first), true, leave::no);
  for (const std::uint32_t expected : {1, 2}) {
    auto one = next();
    EXPECT_EQ(one.number, expected);
    queue.put_back(std::move(one), true, leave::no);
  }
  EXPECT_FALSE(queue.next(&c));
}

TEST_F(Places, ANewPlaceLetsTheNextOneIn) {
  const auto first = next(), second = next();
  std::jthread later([&] { queue.set_places(3); });
  EXPECT_EQ(next().number, 2u);
}

TEST(InFlightRun, ChainsThatMakeWayKeepTheirBits) {
  const auto p = some_problem(true, {{channel::magnetic, 3, 0}});
  p->bins = 6;
  p->measurements_per_bin = 16;
  constexpr int chains = 5;
  const auto bits = [&](const run_options& how) {
    control c;
    std::vector<std::vector<double>> sums;
    for (const chain_state& chain : taken_on(p, fresh(chains, [](int) { return true; }), how, c))
      for (const bin_result& bin : chain.bins) sums.push_back(bin.sums);
    EXPECT_EQ(sums.size(), std::size_t(chains * p->bins));
    return sums;
  };
  run_options how;
  how.pool.workers = 1;
  how.in_flight = 1;
  const auto reference = bits(how);
  for (const char* backend : {"fiber", "os"})
    for (const bool split : {false, true}) {
      how.backend = backend;
      how.pool.workers = 2;
      how.split = split;
      how.in_flight = 0;
      std::atomic<int> looks{0}, most{0};
      how.decide = [&](const pressure& now) {
        most = std::max(most.load(), now.under_way);
        return looks++ % 3 == 0 ? 1 : 4;
      };
      how.look_every = std::chrono::milliseconds(1);
      EXPECT_EQ(bits(how), reference) << backend << split;
      EXPECT_GT(looks, 3);
      EXPECT_GT(most, 1);
    }
}

}  // namespace
}  // namespace plaq::dca
