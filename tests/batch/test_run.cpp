#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "patches.hpp"
#include "plaq/base/error.hpp"
#include "plaq/batch/run.hpp"
#include "plaq/task/future.hpp"

namespace plaq::batch {
namespace {

constexpr int patches = 7;

/// All steps, each after before(patch).
auto pushing(auto before) {
  return [before](auto&, patch& p, const another_step& another) {
    while (p.steps < last_step && another()) {
      before(p);
      push(p);
    }
    return p.steps == last_step;
  };
}

struct Run : testing::Test {
  queue<patch> pieces;
  control c;
  options how;

  void fill(std::vector<patch> with) {
    for (patch& p : with) pieces.add(p);
    pieces.close();
  }
  std::vector<double> complete() { return sums(pieces.take_complete()); }
};

struct OnEveryBackend : Run, testing::WithParamInterface<std::string> {
  OnEveryBackend() { how.backend = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(all, OnEveryBackend, testing::ValuesIn(task::backends()),
                         [](auto& backend) { return backend.param; });

TEST_P(OnEveryBackend, WorkersAndPlacesChangeNothing) {
  for (const int workers : {1, 2, 4})
    for (const int in_flight : {0, 1, 3}) {
      how.pool.workers = workers;
      how.in_flight = in_flight;
      queue<patch> all;
      for (patch& p : fresh(patches)) all.add(p);
      all.close();
      control fresh_control;
      run(all, how, fresh_control, "patch", pushing([](patch&) {}));
      EXPECT_EQ(sums(all.take_complete()), in_a_loop(patches)) << workers << in_flight;
      EXPECT_EQ(all.state().waiting, 0);
    }
}

TEST_P(OnEveryBackend, PiecesThatMakeWayAndAreCalledBackComeToTheSame) {
  how.pool.workers = 2;
  how.in_flight = 4;
  std::atomic<int> steps{0}, visits{0};
  fill(fresh(patches));
  const auto push_all = pushing([&](patch&) {
    const int step = ++steps;
    pieces.set_slots(step % 3 == 0 ? 1 : 4);
    if (step % 4 == 0) pieces.recall(1);
  });
  run(pieces, how, c, "patch", [&](auto& pool, patch& p, const another_step& another) {
    ++visits;
    return push_all(pool, p, another);
  });
  auto all = pieces.take_complete();
  for (patch& p : pieces.take(patches)) {  // called back at the very end
    while (p.steps < last_step) push(p);
    all.push_back(p);
  }
  EXPECT_EQ(sums(all), in_a_loop(patches));
  EXPECT_GT(visits, patches);
}

TEST_P(OnEveryBackend, APolicySaysHowMany) {
  how.pool.workers = 1;
  how.sample_every = std::chrono::milliseconds(1);
  how.decide = [](const load_sample& seen) { return seen.in_progress + 1; };
  fill(fresh(3));
  const auto wait_for_slots = [&](patch&) {
    while (c.slots < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  run(pieces, how, c, "patch", pushing(wait_for_slots));
  EXPECT_EQ(complete(), in_a_loop(3));
}

TEST_P(OnEveryBackend, NeverMoreInFlightThanPlaces) {
  how.pool.workers = 4;
  for (const int slots : {1, 2, 3}) {
    how.in_flight = slots;
    std::atomic<int> now{0}, most{0};
    queue<patch> all;
    for (patch& p : fresh(patches)) all.add(p);
    all.close();
    run(all, how, c, "patch", [&](auto& pool, patch& p, const another_step& another) {
      const int here = ++now;
      for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
      }
      while (most < slots) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // as many are there
      const bool done = pushing([](patch&) {})(pool, p, another);
      --now;
      return done;
    });
    EXPECT_EQ(most, slots);
    EXPECT_EQ(c.slots, slots);
  }
}

TEST_P(OnEveryBackend, AnErrorStopsTheOthersAndIsTheRuns) {
  how.pool.workers = 2;
  how.in_flight = 2;
  fill(fresh(patches));
  std::latch first_is_there{1};
  const auto broken = pushing([&](patch& p) {
    if (p.steps != 1) return;
    if (p.number == 1) {
      first_is_there.wait();
      throw std::domain_error("patch 1 has lost a particle");
    }
    first_is_there.count_down();
    while (c.stop == control::go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  try {
    run(pieces, how, c, "patch", broken);
    FAIL() << "an error was lost";
  } catch (const std::domain_error& error) {
    EXPECT_STREQ(error.what(), "patch 1 has lost a particle");
  }
  EXPECT_EQ(c.stop, control::finish);
  EXPECT_TRUE(pieces.take_complete().empty());
  // All are back as their work left them, and can be resumed.
  queue<patch> again;
  for (patch& p : pieces.take(patches)) {
    EXPECT_EQ(p.steps, p.number == 0 ? 2 : p.number == 1 ? 1 : 0) << p.number;
    again.add(p);
  }
  again.close();
  control fresh_control;
  run(again, how, fresh_control, "patch", pushing([](patch&) {}));
  EXPECT_EQ(sums(again.take_complete()), in_a_loop(patches));
}

TEST_P(OnEveryBackend, AStoppedRunGoesOnToTheSameSums) {
  how.pool.workers = 2;
  control stopped;
  queue<patch> first, second;
  for (patch& p : fresh(patches)) first.add(p);  // not closed: a stopped run does not wait for more
  std::atomic<int> steps{0};
  run(first, how, stopped, "patch", pushing([&](patch&) {
        if (++steps == patches) stopped.stop = control::finish;
      }));
  EXPECT_LT(steps, patches + how.pool.workers);
  std::vector<patch> all = first.take_complete();
  for (patch& p : first.take(patches)) second.add(p);
  EXPECT_GT(second.state().waiting, 0);
  second.close();
  run(second, how, c, "patch", pushing([](patch&) {}));
  for (patch& p : second.take_complete()) all.push_back(p);
  EXPECT_EQ(sums(all), in_a_loop(patches));
}

TEST_P(OnEveryBackend, PiecesThatRunTogetherMayWaitForEachOther) {
  how.pool.workers = 1;
  fill(fresh(patches));
  // Each waits for its neighbour on a ring, which would never begin if slots were fewer.
  std::vector<task::promise<double>> faces(patches);
  std::vector<task::future<double>> of_neighbour;
  for (auto& face : faces) of_neighbour.push_back(face.get_future());
  std::atomic<int> beside{0};
  run_together(
      pieces, how, c, "patch",
      [&](auto&, patch& p, const another_step& another) {
        while (p.steps < last_step && another()) push(p);
        faces[p.number].set_value(p.sum);
        p.sum -= of_neighbour[(p.number + 1) % patches].get();
        return true;
      },
      [&](auto& task_group) { task_group.begin("beside", [&] { ++beside; }); });
  const auto alone = in_a_loop(patches), found = complete();
  ASSERT_EQ(found.size(), std::size_t(patches));
  for (int i = 0; i < patches; ++i) EXPECT_EQ(found[i], alone[i] - alone[(i + 1) % patches]);
  EXPECT_EQ(beside, 1);
  EXPECT_EQ(c.slots, patches);
}

TEST_P(OnEveryBackend, PiecesThatRunTogetherBeginEvenWhenStopped) {
  fill(fresh(patches));
  c.stop = control::abandon;
  std::atomic<int> said_goodbye{0};
  run_together(
      pieces, how, c, "patch",
      [&](auto&, patch&, const another_step& another) {
        EXPECT_FALSE(another());
        ++said_goodbye;
        return false;
      },
      [](auto&) {});
  EXPECT_EQ(said_goodbye, patches);
  EXPECT_EQ(pieces.take(patches).size(), std::size_t(patches));
}

TEST_P(OnEveryBackend, AnErrorBesideIsTheRunsToo) {
  fill(fresh(1));
  const auto fails = [](auto& task_group) { task_group.begin("beside", [] { throw std::domain_error("beside"); }); };
  EXPECT_THROW(run_together(pieces, how, c, "patch", pushing([](patch&) {}), fails), std::domain_error);
  EXPECT_EQ(c.stop, control::finish);
  EXPECT_EQ(pieces.take(1).size() + pieces.take_complete().size(), 1u);
}

// What is wrong before anything begins loses nothing.
TEST_F(Run, RefusesWhatCannotBe) {
  const auto work = pushing([](patch&) {});
  pieces.add({});
  EXPECT_THROW(run_together(pieces, how, c, "patch", work, [](auto&) {}), runtime_failure) << "the queue is open";
  pieces.close();
  how.in_flight = -1;
  EXPECT_THROW(run(pieces, how, c, "patch", work), runtime_failure);
  how.in_flight = 0;
  how.backend = "thread";
  EXPECT_THROW(run(pieces, how, c, "patch", work), input_error);
  EXPECT_EQ(pieces.state().waiting, 1);
}

TEST_F(Run, AFailureDoesNotWeakenAnAbandonedRun) {
  c.stop = control::abandon;
  c.fail();
  EXPECT_EQ(c.stop, control::abandon);
}

}  // namespace
}  // namespace plaq::batch
