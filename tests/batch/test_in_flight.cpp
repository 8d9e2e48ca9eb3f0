#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "plaq/batch/in_flight.hpp"
#include "plaq/task/fiber.hpp"

namespace plaq::batch {
namespace {

/// A machine on which a piece has a task that always runs and one that runs a part of the time.
struct machine {
  int workers, pieces;
  double beside;
  load_sample seen(int places) const {
    const int in_progress = std::min(places, pieces);
    const double runnable = in_progress * (1 + beside), left = runnable - workers;
    return {.idle = left < 0 ? -left / workers : 0,
            .ready = left >= 1 ? std::uint64_t(left) : 0,
            .in_progress = in_progress,
            .waiting = pieces - in_progress,
            .memory = 0.5};
  }
};

int settled(in_flight_rule& rule, const machine& m) {
  int last = 0, same = 0;
  for (int look = 0; look < 1000 && same < 5 * in_flight_rule::crowded_samples; ++look) {
    const int next = rule.decide(m.seen(rule.slots()));
    same = next == last ? same + 1 : 0;
    last = next;
  }
  EXPECT_GE(same, 5 * in_flight_rule::crowded_samples) << "it has to come to rest";
  return last;
}

TEST(InFlight, RisesFromOneWhileWorkersIdle) {
  in_flight_rule rule(1);
  EXPECT_EQ(rule.decide({.idle = 0.5, .in_progress = 1, .waiting = 3}), 2);
  EXPECT_EQ(rule.decide({.idle = 0.5, .in_progress = 1, .waiting = 2}), 2) << "not before the last place is taken";
  EXPECT_EQ(rule.decide({.idle = 0.5, .in_progress = 2, .waiting = 2}), 3);
  EXPECT_EQ(rule.decide({.idle = 0.02, .in_progress = 3, .waiting = 1}), 3) << "busy";
  EXPECT_EQ(rule.decide({.idle = 0.5, .in_progress = 3, .waiting = 0}), 3) << "no piece is left";
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
  rule.decide({.idle = 0.5, .in_progress = 1, .waiting = 9});
  for (int look = 0; look < 100; ++look) EXPECT_EQ(rule.decide({.ready = 1, .in_progress = 2, .waiting = 8}), 2);
}

TEST(InFlight, MemoryComesFirst) {
  in_flight_rule rule(6);
  const double short_of = in_flight_rule::scarce / 2;
  const double little = (in_flight_rule::scarce + in_flight_rule::enough) / 2;
  EXPECT_EQ(rule.decide({.idle = 0.5, .in_progress = 6, .waiting = 9, .memory = little}), 6);
  EXPECT_EQ(rule.decide({.in_progress = 6, .waiting = 9, .memory = short_of}), 5);
  EXPECT_EQ(rule.decide({.in_progress = 6, .waiting = 9, .memory = short_of}), 5) << "one has to end its step first";
  EXPECT_EQ(rule.decide({.in_progress = 5, .waiting = 10, .memory = short_of}), 4);
  for (int in_progress : {4, 3, 2, 1}) rule.decide({.in_progress = in_progress, .waiting = 9, .memory = short_of});
  EXPECT_EQ(rule.slots(), 1) << "one continues";
}

TEST(InFlight, SeesIdleWorkersAndTasksThatWait) {
  task::fiber::pool pool({.workers = 2, .bind = task::binding::none});
  pool_sampler watch;
  load_sample now;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  watch.sample(now);
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
  watch.sample(now);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  watch.sample(now);
  EXPECT_EQ(now.ready, 3u);
  EXPECT_LT(now.idle, 0.01);
  stop = true;
  for (auto& t : tasks) t.get();
}

}  // namespace
}  // namespace plaq::batch
