#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/batch/queue.hpp"

namespace plaq::batch {
namespace {

struct piece {
  int number = 0;
};

/// Three pieces, numbered from 0, and two slots.
struct Places : testing::Test {
  batch::queue<piece> queue;
  control c;
  Places() {
    for (int number = 0; number < 3; ++number) queue.add({number});
    queue.close();
    queue.set_slots(2);
  }
  piece next() { return queue.next(c).value(); }
};

TEST_F(Places, PiecesComeInTheirOrder) {
  auto first = next(), second = next();
  EXPECT_EQ(first.number, 0);
  EXPECT_EQ(second.number, 1);
  EXPECT_EQ(queue.state().running, 2);
  EXPECT_EQ(queue.state().waiting, 1);
  EXPECT_EQ(queue.between_steps(), leave_reason::none);
  queue.put_back(std::move(first), true, leave_reason::none);
  auto third = next();
  EXPECT_EQ(third.number, 2);
  queue.put_back(std::move(second), true, leave_reason::none);
  queue.put_back(std::move(third), true, leave_reason::none);
  EXPECT_FALSE(queue.next(c));
}

TEST_F(Places, WhoMakesWayGoesOnLater) {
  auto first = next(), second = next();
  queue.set_slots(1);
  EXPECT_EQ(queue.between_steps(), leave_reason::preempted);
  EXPECT_EQ(queue.between_steps(), leave_reason::none) << "one is enough";
  EXPECT_EQ(queue.state().running, 2) << "until its sums are gone";
  queue.put_back(std::move(second), false, leave_reason::preempted);
  EXPECT_EQ(queue.between_steps(), leave_reason::none);
  queue.put_back(std::move(first), true, leave_reason::none);
  for (const int expected : {1, 2}) {
    auto one = next();
    EXPECT_EQ(one.number, expected);
    queue.put_back(std::move(one), true, leave_reason::none);
  }
  EXPECT_FALSE(queue.next(c));
}

TEST_F(Places, ANewPlaceLetsTheNextOneIn) {
  next(), next();
  std::jthread later([&] { queue.set_slots(3); });
  EXPECT_EQ(next().number, 2);
}

TEST_F(Places, RecalledPiecesAreTakenFirstAndElseGoOn) {
  auto first = next(), second = next();
  queue.recall(1);
  EXPECT_EQ(queue.between_steps(), leave_reason::recalled);
  EXPECT_EQ(queue.between_steps(), leave_reason::none) << "one was wanted";
  queue.put_back(std::move(second), false, leave_reason::recalled);
  EXPECT_EQ(queue.state().waiting, 2);
  const auto taken = queue.take(1);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].number, 1);
  queue.add({1});
  queue.recall(1);
  queue.put_back(std::move(first), false, queue.between_steps());
  queue.recall(0);  // it was not taken
  EXPECT_EQ(next().number, 0);
}

TEST_F(Places, StoppedRunsGiveNothingOutAndWaitForThoseThatRun) {
  auto first = next();
  c.stop = control::finish;
  std::jthread later([&] { queue.put_back(std::move(first), false, leave_reason::none); });
  EXPECT_FALSE(queue.next(c));
  EXPECT_EQ(queue.state().running, 0);
  EXPECT_EQ(queue.take(9).size(), 3u);
}

TEST(Queue, PiecesThatRunTogetherAreAllThereBefore) {
  queue<piece> open;
  open.add({});
  EXPECT_THROW(open.all(), runtime_failure);
  EXPECT_EQ(open.state().waiting, 1);
  open.close();
  EXPECT_EQ(open.all().size(), 1u);
  EXPECT_EQ(open.state().running, 1);
}

}  // namespace
}  // namespace plaq::batch
