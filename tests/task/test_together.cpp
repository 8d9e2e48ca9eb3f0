// Back ends beside each other in one program: what waits on one is woken by another, and by threads that are of none.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "conformance.hpp"

namespace plaq::task {
namespace {

struct Together : testing::Test {
  fiber::pool fibers{{.workers = 2}};
  os::pool threads{{.workers = 2}};
  /// work(i) for i = 0 ... n - 1, by turns in a fiber, in a kernel thread's task, and outside of the pools.
  void everywhere(int n, const std::function<void(int)>& work) {
    std::vector<future<void>> tasks;
    std::vector<std::jthread> outside;
    for (int i = 0; i < n; ++i)
      if (i % 3 == 0)
        tasks.push_back(fibers.async("fiber", [&work, i] { work(i); }));
      else if (i % 3 == 1)
        tasks.push_back(threads.async("thread", [&work, i] { work(i); }));
      else
        outside.emplace_back([&work, i] { work(i); });
    outside.clear();
    for (auto& t : tasks) t.get();
  }
};

TEST_F(Together, OneMutex) {
  mutex lock;
  long count = 0;  // not atomic: the mutex is what makes it right
  everywhere(9, [&](int index) {
    for (int i = 0; i < 1000 / less; ++i) {
      std::lock_guard guard(lock);
      ++count;
      if ((i + index) % 60 == 0) this_task::yield();
    }
  });
  EXPECT_EQ(count, 9 * (1000 / less));
}

TEST_F(Together, OneConditionVariable) {
  mutex lock;
  condition_variable changed;
  int turn = 0;
  const int rounds = 100 / less, parties = 6;
  everywhere(parties, [&](int index) {
    for (int i = 0; i < rounds; ++i) {
      std::unique_lock guard(lock);
      changed.wait(guard, [&] { return turn % parties == index; });
      ++turn;
      changed.notify_all();
    }
  });
  EXPECT_EQ(turn, rounds * parties);
}

TEST_F(Together, OneChannel) {
  channel<fiber, int> pipe(2);
  std::atomic<long> sum{0};
  std::atomic<int> producers{3};
  const int each = 300 / less;
  everywhere(6, [&](int index) {
    if (index < 3) {
      for (int i = 0; i < each; ++i) EXPECT_TRUE(pipe.push(index * each + i));
      if (--producers == 0) pipe.close();
    } else {
      while (auto value = pipe.pop()) sum += *value;
    }
  });
  EXPECT_EQ(sum, 3L * each * (3L * each - 1) / 2);
}

TEST_F(Together, OneLatchAndOneBarrier) {
  latch<os> start(6);
  barrier<fiber> meeting(6);
  std::vector<std::atomic<int>> arrived(20);
  everywhere(6, [&](int) {
    start.arrive_and_wait();
    for (auto& phase : arrived) {
      ++phase;
      meeting.arrive_and_wait();
      EXPECT_EQ(phase, 6);
    }
  });
}

TEST_F(Together, OnePromise) {
  for (int round = 0; round < 200 / less; ++round) {
    promise<std::string> p;
    const auto result = p.get_future().share();
    everywhere(6, [&](int index) {
      if (index == round % 6)
        p.set_value(std::to_string(round));
      else
        EXPECT_EQ(result.get(), std::to_string(round));
    });
  }
}

// One worker each: a waiting task has to give it away, or both wait for ever.
TEST(PoolsOfTwoKinds, WaitForEachOtherToAnyDepth) {
  fiber::pool fibers({.workers = 1});
  os::pool threads({.workers = 1});
  std::function<int(int)> down = [&](int depth) -> int {
    if (depth == 0) return 0;
    return 1 + (depth % 2 ? fibers.async("fiber", [&, depth] { return down(depth - 1); })
                          : threads.async("thread", [&, depth] { return down(depth - 1); }))
                   .get();
  };
  EXPECT_EQ(down(60), 60);
}

TEST_F(Together, AGraphOverBoth) {
  auto text = fibers.async("number", [] { return 20; })
                  .then(threads, "text", [](future<int> n) { return std::to_string(n.get() + 1); })
                  .then(fibers, "longer", [](future<std::string> s) { return s.get() + "!"; });
  auto length = dataflow(
      threads, "join", [](std::string s, int n, const double& d) { return int(s.size()) + n + int(d); },
      std::move(text), threads.async("three", [] { return 3; }), fibers.async("shared", [] { return 4.5; }).share());
  EXPECT_EQ(length.get(), 3 + 3 + 4);

  std::vector<future<int>> all;
  for (int i = 0; i < 100; ++i)
    all.push_back(i % 2 ? fibers.async("one", [i] { return i; }) : threads.async("one", [i] { return i; }));
  long sum = 0;
  for (auto& f : when_all(std::move(all)).get()) sum += f.get();
  EXPECT_EQ(sum, 4950);
  EXPECT_LT(when_any(fibers.async("a", [] {}), threads.async("b", [] {})).get().index, 2u);
}

TEST_F(Together, ErrorsCrossFromOneToTheOther) {
  auto failed = fibers.async("thrower", []() -> int { throw input_error("from a fiber"); })
                    .then(threads, "passes on", [](future<int> f) { return f.get(); });
  auto caught = fibers.async("catcher", [&] {
    try {
      failed.get();
      return std::string("nothing");
    } catch (const input_error& e) {
      return std::string(e.what());
    }
  });
  EXPECT_EQ(caught.get(), "from a fiber");
}

TEST_F(Together, AFutureThatIsReturnedMayBeOfTheOther) {
  future<int> unwrapped = fibers.async("outer", [] { return 5; }).then(fibers, "hands over", [&](future<int> n) {
    return threads.async("inner", [n = n.get()] { return n * n; });
  });
  EXPECT_EQ(unwrapped.get(), 25);
}

TEST_F(Together, LoopsOfOneInTasksOfTheOther) {
  std::vector<int> touched(400);
  parallel_for(threads, "outer", 0, 20, [&](int i) {
    parallel_for(fibers, "inner", 0, 20, [&](int j) { ++touched[static_cast<std::size_t>(20 * i + j)]; });
  });
  EXPECT_EQ(touched, std::vector<int>(400, 1));
  const auto sum = [](auto& pool) {
    return parallel_reduce(pool, "sum", 0, 1000, 0.0, std::plus{}, [](int i) { return 1.0 / (1 + i); });
  };
  EXPECT_EQ(sum(fibers), sum(threads)) << "to the last bit";
}

TEST_F(Together, OneStopEndsWaitsOfAllKinds) {
  for (int round = 0; round < 50 / less; ++round) {
    std::stop_source source;
    channel<fiber, int> never(1);
    promise<void> unkept;
    const auto result = unkept.get_future().share();
    mutex lock;
    condition_variable changed;
    std::atomic<int> ended{0};
    everywhere(10, [&](int index) {
      const auto token = source.get_token();
      if (index == 9) {
        source.request_stop();
      } else if (index % 3 == round % 3) {
        EXPECT_THROW((void)never.pop(token), cancelled);
      } else if (index % 3 == (round + 1) % 3) {
        EXPECT_FALSE(result.wait(token));
      } else {
        std::unique_lock guard(lock);
        EXPECT_FALSE(changed.wait(guard, token, [] { return false; }));
      }
      ++ended;
    });
    EXPECT_EQ(ended, 10);
  }
}

}  // namespace
}  // namespace plaq::task
