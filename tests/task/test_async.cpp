#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <stop_token>
#include <thread>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct Async : Conformance<B> {};
TYPED_TEST_SUITE(Async, every_backend, backend_names);

using namespace std::chrono_literals;

TYPED_TEST(Async, ReturnsValuesOfAnyMovableType) {
  typename TypeParam::pool pool({.workers = 2});
  EXPECT_EQ(pool.async("number", [] { return 7; }).get(), 7);
  EXPECT_EQ(*pool.async("move only", [p = std::make_unique<int>(5)]() mutable { return std::move(p); }).get(), 5);
  bool ran = false;
  pool.async("nothing", [&] { ran = true; }).get();
  EXPECT_TRUE(ran);
}

TYPED_TEST(Async, ExceptionsTravel) {
  typename TypeParam::pool pool({.workers = 1});
  auto inner = [&] { return pool.async("inner", []() -> int { throw input_error("from far"); }).get(); };
  auto outer = pool.async("outer", [&] { return inner(); });
  try {
    outer.get();
    FAIL();
  } catch (const input_error& e) {
    EXPECT_STREQ(e.what(), "from far");
  }
  EXPECT_FALSE(outer.valid());
  EXPECT_THROW(outer.get(), std::future_error);
}

// The C++ library keeps what is being handled per kernel thread; a waiting task must take its own along.
TYPED_TEST(Async, WaitsInsideCatchBlocks) {
  typename TypeParam::pool pool({.workers = 2});
  std::vector<typename TypeParam::template future<bool>> all;
  for (int i = 0; i < 64; ++i)
    all.push_back(pool.async("catcher", [&, i] {
      for (int round = 0; round < 20; ++round) {
        try {
          throw i;
        } catch (...) {
          pool.async("other", [] { TypeParam::yield(); }).get();
          TypeParam::yield();
          try {
            throw;
          } catch (int mine) {
            if (mine != i || std::uncaught_exceptions() != 0) return false;
          }
        }
      }
      return true;
    }));
  for (auto& f : all) EXPECT_TRUE(f.get());
}

TYPED_TEST(Async, ManyTasks) {
  for (int workers : {1, 2}) {
    typename TypeParam::pool pool({.workers = workers});
    const int n = 1'000'000 / less;
    std::vector<typename TypeParam::template future<int>> all;
    all.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) all.push_back(pool.async("number", [i] { return i % 7; }));
    long sum = 0, expected = 0;
    for (int i = 0; i < n; ++i) expected += i % 7;
    for (auto& f : all) sum += f.get();
    EXPECT_EQ(sum, expected);
  }
}

TYPED_TEST(Async, ManyTasksFromInside) {
  typename TypeParam::pool pool({.workers = 2});
  std::atomic<int> ran{0};
  const int n = 100'000 / less;
  pool.async("spawner",
             [&] {
               std::vector<typename TypeParam::template future<void>> all;
               for (int i = 0; i < n; ++i) all.push_back(pool.async("child", [&] { ++ran; }));
               for (auto& f : all) f.get();
             })
      .get();
  EXPECT_EQ(ran, n);
}

template <class Pool>
int fibonacci(Pool& pool, int n) {
  if (n < 2) return n;
  auto left = pool.async("fibonacci", [&, n] { return fibonacci(pool, n - 1); });
  const int right = fibonacci(pool, n - 2);
  return left.get() + right;
}

TYPED_TEST(Async, NestedWaitsDoNotBlockTheWorkers) {
  for (int workers : {1, 2, 64}) {
    typename TypeParam::pool pool({.workers = workers});
    EXPECT_EQ(pool.async("root", [&] { return fibonacci(pool, 12); }).get(), 144) << workers;
  }
}

TYPED_TEST(Async, DeepChainOfWaits) {
  typename TypeParam::pool pool({.workers = 1});
  std::function<int(int)> below = [&](int depth) -> int {
    return depth ? 1 + pool.async("level", [&, depth] { return below(depth - 1); }).get() : 0;
  };
  EXPECT_EQ(pool.async("root", [&] { return below(200); }).get(), 200);
}

TYPED_TEST(Async, FirstInFirstStartedFromOutside) {
  typename TypeParam::pool pool({.workers = 1});
  std::atomic<bool> go{false};
  std::vector<int> order;
  std::vector<typename TypeParam::template future<void>> all;
  all.push_back(pool.async("holder", [&] {
    while (!go) std::this_thread::sleep_for(1ms);
  }));
  for (int i = 0; i < 10; ++i) all.push_back(pool.async("one", [&, i] { order.push_back(i); }));
  go = true;
  for (auto& f : all) f.get();
  std::vector<int> expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

// No task keeps the worker for ever if it yields or waits.
TYPED_TEST(Async, YieldingTasksLetNewOnesStart) {
  typename TypeParam::pool pool({.workers = 1});
  std::atomic<bool> stop{false};
  auto first = pool.async("spinner", [&] {
    while (!stop) TypeParam::yield();
  });
  auto second = pool.async("spinner", [&] {
    while (!stop) pool.async("child", [] {}).get();
  });
  pool.async("stopper", [&] { stop = true; }).get();
  first.get();
  second.get();
}

TYPED_TEST(Async, WaitsFromOutsideWithTimeout) {
  typename TypeParam::pool pool({.workers = 1});
  std::atomic<bool> go{false};
  auto f = pool.async("slow", [&] {
    while (!go) TypeParam::sleep_for(1ms);
    return 3;
  });
  EXPECT_EQ(f.wait_for(5ms), std::future_status::timeout);
  go = true;
  EXPECT_EQ(f.wait_for(1h), std::future_status::ready);
  EXPECT_TRUE(f.is_ready());
  EXPECT_EQ(f.get(), 3);
}

TYPED_TEST(Async, WaitsFromInsideWithTimeout) {
  typename TypeParam::pool pool({.workers = 2});
  typename TypeParam::template promise<int> promise;
  auto f = promise.get_future();
  std::atomic<int> timeouts{0};
  auto waiter = pool.async("waiter", [&] {
    while (f.wait_for(100us) == std::future_status::timeout) ++timeouts;
    return f.get();
  });
  while (timeouts == 0) std::this_thread::sleep_for(1ms);
  promise.set_value(1);
  EXPECT_EQ(waiter.get(), 1);
}

// The deadline and the value come at about the same time, in either order.
TYPED_TEST(Async, TimeoutRacesWithValue) {
  typename TypeParam::pool pool({.workers = 2});
  for (int i = 0; i < 2000 / less; ++i) {
    typename TypeParam::template promise<int> promise;
    auto f = promise.get_future();
    auto waiter = pool.async("waiter", [&] {
      while (f.wait_for(std::chrono::microseconds(i % 50)) == std::future_status::timeout) {
      }
      return f.get();
    });
    auto giver = pool.async("giver", [&] {
      TypeParam::sleep_for(std::chrono::microseconds(i % 37));
      promise.set_value(i);
    });
    EXPECT_EQ(waiter.get(), i);
    giver.get();
  }
}

TYPED_TEST(Async, ManyThreadsOutside) {
  typename TypeParam::pool pool({.workers = 2});
  std::atomic<long> sum{0};
  {
    std::vector<std::jthread> outside;
    for (int t = 0; t < 8; ++t)
      outside.emplace_back([&, t] {
        for (int i = 0; i < 2000 / less; ++i) sum += pool.async("echo", [&] { return t; }).get();
      });
  }
  EXPECT_EQ(sum, 28 * (2000 / less));
}

TYPED_TEST(Async, PromisesAreKeptOnceOrBroken) {
  typename TypeParam::template promise<int> p;
  auto f = p.get_future();
  EXPECT_THROW((void)p.get_future(), std::future_error);
  p.set_value(4);
  EXPECT_THROW(p.set_value(5), std::future_error);
  EXPECT_EQ(f.get(), 4);

  typename TypeParam::template future<void> orphan;
  EXPECT_FALSE(orphan.valid());
  EXPECT_THROW(orphan.wait(), std::future_error);
  {
    typename TypeParam::template promise<void> broken;
    orphan = broken.get_future();
  }
  EXPECT_THROW(orphan.get(), std::future_error);
}

TYPED_TEST(Async, ValuesThatCannotBeMadeLeaveThePromiseToBeKeptOrBroken) {
  using promise = typename TypeParam::template promise<fragile>;
  promise kept;
  auto value = kept.get_future();
  EXPECT_THROW(kept.set_value(fragile(0)), runtime_failure);
  EXPECT_FALSE(value.is_ready());
  kept.set_value(7);
  EXPECT_THROW(kept.set_value(8), std::future_error);
  EXPECT_EQ(value.get().left, 6);

  promise failed;
  auto error = failed.get_future();
  try {
    failed.set_value(fragile(0));
    FAIL();
  } catch (const runtime_failure&) {
    failed.set_exception(std::current_exception());
  }
  EXPECT_THROW(error.get(), runtime_failure);

  typename TypeParam::template future<fragile> orphan;
  {
    promise broken;
    orphan = broken.get_future();
    EXPECT_THROW(broken.set_value(fragile(0)), runtime_failure);
  }
  EXPECT_THROW(orphan.get(), std::future_error);
}

// Wherever on its way a result breaks, the future says so.
TYPED_TEST(Async, ResultsThatCannotBeMovedAreErrorsOfTheirTasks) {
  typename TypeParam::pool pool({.workers = 2});
  for (int moves = 0; moves < 11; ++moves) {
    const auto task = [&] { return pool.async("task", [=] { return fragile(moves); }); };
    const auto left = [](auto future) {  // -1: it did not come
      try {
        return future.get().left;
      } catch (const runtime_failure&) {
        return -1;
      }
    };
    const auto after = [&](int taken) { return std::max(moves - taken, -1); };
    EXPECT_EQ(left(task()), after(2)) << moves;  // into the state and out of it
    EXPECT_EQ(left(task().then(pool, "then", [](auto ready) { return ready.get(); })), after(4)) << moves;
    EXPECT_EQ(left(pool.async("outer", [] {}).then(pool, "inner", [&](auto) { return task(); })), after(4)) << moves;
    auto [member] = when_all(task()).get();
    EXPECT_EQ(left(std::move(member)), after(2)) << moves;
    // Into the state and out of it twice, and five times on the way through the tuples into the argument.
    EXPECT_EQ(left(dataflow(pool, "dataflow", [](fragile value) { return value; }, task())), after(9)) << moves;
  }
}

TYPED_TEST(Async, CapturesAreGoneWhenTheResultIsThere) {
  typename TypeParam::pool pool({.workers = 2});
  for (int i = 0; i < 1000; ++i) {
    auto token = std::make_shared<int>(0);
    pool.async("holder", [token] {}).get();
    EXPECT_EQ(token.use_count(), 1);
  }
}

TYPED_TEST(Async, PoolWaitsForItsTasks) {
  std::atomic<int> ended{0};
  {
    typename TypeParam::pool pool({.workers = 2});
    for (int i = 0; i < 100; ++i)
      (void)pool.async("parent", [&] {
        (void)pool.async("child", [&] {
          TypeParam::sleep_for(1ms);
          ++ended;
        });
      });
  }
  EXPECT_EQ(ended, 100);
}

TYPED_TEST(Async, PoolsComeAndGo) {
  for (int i = 0; i < 200 / less; ++i) {
    typename TypeParam::pool pool({.workers = 3});
    if (i % 2) {
      EXPECT_EQ(pool.async("one", [] { return 1; }).get(), 1);
    }
  }
}

TYPED_TEST(Async, StopTokens) {
  typename TypeParam::pool pool({.workers = 1});
  std::stop_source source;
  auto f = pool.async("until stopped", [token = source.get_token()] {
    long rounds = 0;
    while (!token.stop_requested()) ++rounds, TypeParam::yield();
    return rounds;
  });
  auto g = pool.async("stopper", [&] { source.request_stop(); });
  EXPECT_GE(f.get(), 0);
  g.get();
}

// What may run at the same time is bounded by workers(), also where tasks wait in between.
TYPED_TEST(Async, RunningTasksAreAtMostWorkers) {
  for (int workers : {1, 2, 5}) {
    typename TypeParam::pool pool({.workers = workers});
    EXPECT_EQ(pool.workers(), workers);
    std::atomic<int> running{0}, most{0};
    auto busy = [&] {
      int now = ++running, before = most;
      while (now > before && !most.compare_exchange_weak(before, now)) {
      }
      const auto until = std::chrono::steady_clock::now() + 2us;
      while (std::chrono::steady_clock::now() < until) {
      }
      --running;
    };
    std::vector<typename TypeParam::template future<void>> all;
    for (int i = 0; i < 40; ++i)
      all.push_back(pool.async("parent", [&] {
        for (int round = 0; round < 20; ++round) {
          busy();
          pool.async("child", busy).get();
        }
      }));
    for (auto& f : all) f.get();
    EXPECT_LE(most, workers);
  }
}

// Tasks that do not release their workers, also where these are more than the cores.
TYPED_TEST(Async, AsManyTasksRunAsThereAreWorkers) {
  for (const int workers : {1, 2, physical_cores() + 3}) {
    typename TypeParam::pool pool({.workers = workers});
    std::atomic<int> running{0};
    const auto meet = [&] {
      ++running;
      for (int ms = 0; ms < 20'000 && running < workers; ++ms) std::this_thread::sleep_for(1ms);
      EXPECT_EQ(running, workers);
    };
    std::vector<typename TypeParam::template future<void>> all;
    for (int i = 0; i < workers; ++i) all.push_back(pool.async("meets", meet));
    for (auto& f : all) f.get();
  }
}

TYPED_TEST(Async, SixtyFourWorkersOnFewCores) {
  typename TypeParam::pool pool({.workers = 64});
  std::vector<typename TypeParam::template future<long>> all;
  for (int i = 0; i < 500; ++i)
    all.push_back(pool.async("mixed", [&, i] {
      long sum = 0;
      for (int j = 0; j < 10; ++j) sum += pool.async("child", [=] { return i * j; }).get();
      return sum;
    }));
  for (int i = 0; i < 500; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), 45L * i);
}

TYPED_TEST(Async, ResultsDoNotDependOnWorkers) {
  const auto run = [](int workers) {
    typename TypeParam::pool pool({.workers = workers});
    std::vector<double> piece(257);
    parallel_for(pool, "piece", std::size_t{0}, piece.size(), [&](std::size_t p) {
      double x = 1.0 / static_cast<double>(p + 1);
      for (int i = 0; i < 100; ++i) x = 3.9 * x * (1 - x);
      piece[p] = x;
    });
    return std::accumulate(piece.begin(), piece.end(), 0.0);
  };
  const double one = run(1);
  for (int workers : {2, 3, 64}) EXPECT_EQ(run(workers), one);
}

}  // namespace plaq::task
