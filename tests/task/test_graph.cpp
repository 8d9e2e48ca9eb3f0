// then, when_all, when_any, dataflow and shared results.
#include <atomic>
#include <memory>
#include <thread>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct Graph : Conformance<B> {
  template <class T>
  using future_t = typename B::template future<T>;
  template <class T>
  using shared_t = typename B::template shared_future<T>;
  template <class T>
  using promise_t = typename B::template promise<T>;
};
TYPED_TEST_SUITE(Graph, every_backend, backend_names);

using namespace std::chrono_literals;

TYPED_TEST(Graph, ThenGetsTheReadyFuture) {
  typename TypeParam::pool pool({.workers = 2});
  auto number = pool.async("number", [] { return 20; });
  auto text = number.then(pool, "text", [](auto ready) {
    EXPECT_TRUE(ready.is_ready());
    return std::to_string(ready.get() + 1);
  });
  EXPECT_FALSE(number.valid());
  auto nothing = text.then(pool, "nothing", [](auto ready) { EXPECT_EQ(ready.get(), "21"); });
  nothing.get();
  auto done = pool.async("void", [] {}).then(pool, "own", [p = std::make_unique<int>(3)](auto ready) mutable {
    ready.get();
    return std::move(p);
  });
  EXPECT_EQ(*done.get(), 3);
}

TYPED_TEST(Graph, ThenSeesTheError) {
  typename TypeParam::pool pool({.workers = 1});
  auto failed = pool.async("thrower", []() -> int { throw input_error("from far"); });
  auto passed_on = failed.then(pool, "passes", [](auto ready) { return ready.get() + 1; });
  auto rescued = passed_on.then(pool, "rescues", [](auto ready) {
    try {
      return ready.get();
    } catch (const input_error& e) {
      return std::string_view(e.what()) == "from far" ? -1 : -2;
    }
  });
  EXPECT_EQ(rescued.get(), -1);
}

// Continuations are queued nowhere, have no stack and no thread until their turn comes.
TYPED_TEST(Graph, ManyContinuationsOfOneResult) {
  typename TypeParam::pool pool({.workers = 1});
  typename TestFixture::template promise_t<int> promise;
  auto start = promise.get_future().share();
  std::vector<typename TestFixture::template future_t<int>> all;
  const int n = 100'000 / less;
  for (int i = 0; i < n; ++i) all.push_back(start.then(pool, "later", [i](auto ready) { return ready.get() + i; }));
  EXPECT_EQ(pool.async("meanwhile", [] { return 1; }).get(), 1);
  for (auto& f : all) ASSERT_FALSE(f.is_ready());
  promise.set_value(5);
  for (int i = 0; i < n; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)].get(), i + 5);
}

TYPED_TEST(Graph, LongChainOfContinuations) {
  typename TypeParam::pool pool({.workers = 2});
  typename TestFixture::template promise_t<int> promise;
  auto last = promise.get_future();
  const int n = 100'000 / less;
  for (int i = 0; i < n; ++i) last = last.then(pool, "link", [](auto ready) { return ready.get() + 1; });
  promise.set_value(0);
  EXPECT_EQ(last.get(), n);
}

// The result comes while the continuation is being attached.
TYPED_TEST(Graph, AttachingRacesWithTheResult) {
  typename TypeParam::pool pool({.workers = 2});
  for (int i = 0; i < 5000 / less; ++i) {
    auto shared = pool.async("producer", [i] { return i; }).share();
    auto a = shared.then(pool, "user", [](auto ready) { return ready.get(); });
    auto b = shared.then(pool, "user", [](auto ready) { return ready.get(); });
    EXPECT_EQ(shared.get(), i);
    EXPECT_EQ(a.get() + b.get(), 2 * i);
  }
}

TYPED_TEST(Graph, FuturesOfFuturesAreUnwrapped) {
  typename TypeParam::pool pool({.workers = 1});
  using future = typename TestFixture::template future_t<int>;
  auto two_steps = [&](auto ready) {
    const int x = ready.get();
    return pool.async("inner", [x] { return 2 * x; });
  };
  future unwrapped = pool.async("outer", [] { return 4; }).then(pool, "step", two_steps);
  EXPECT_EQ(unwrapped.get(), 8);
  future inner_fails = pool.async("outer", [] {}).then(pool, "step", [&](auto) {
    return pool.async("inner", []() -> int { throw runtime_failure("inside"); });
  });
  EXPECT_THROW(inner_fails.get(), runtime_failure);
  future outer_fails = pool.async("outer", []() -> int { throw 3; }).then(pool, "step", two_steps);
  EXPECT_THROW(outer_fails.get(), int);
  future none = pool.async("outer", [] {}).then(pool, "step", [](auto) { return future(); });
  EXPECT_THROW(none.get(), std::future_error);

  // A loop without a waiting task: each round starts the next.
  std::function<future(int)> rounds = [&](int left) {
    return pool.async("round", [] {}).then(pool, "next", [&, left](auto) {
      return left ? rounds(left - 1) : pool.async("last", [] { return 7; });
    });
  };
  EXPECT_EQ(rounds(100'000 / less).get(), 7);
  // Nor does its end need more of a stack than a task has.
  EXPECT_EQ(pool.async("waits", [&] { return rounds(100'000 / less).get(); }).get(), 7);
}

TYPED_TEST(Graph, SharedResultsHaveManyUsers) {
  typename TypeParam::pool pool({.workers = 2});
  typename TestFixture::template promise_t<std::vector<int>> promise;
  auto future = promise.get_future();
  const auto shared = future.share();
  EXPECT_FALSE(future.valid());
  std::vector<typename TestFixture::template future_t<const int*>> users;
  for (int i = 0; i < 50; ++i) users.push_back(pool.async("user", [shared] { return shared.get().data(); }));
  std::vector<const int*> outside(4);
  {
    std::vector<std::jthread> threads;
    for (auto& seen : outside) threads.emplace_back([&seen, shared] { seen = shared.get().data(); });
    promise.set_value(std::vector{1, 2, 3});
  }
  EXPECT_EQ(shared.get(), (std::vector{1, 2, 3}));
  for (auto& user : users) EXPECT_EQ(user.get(), shared.get().data()) << "one value for all";
  for (auto* seen : outside) EXPECT_EQ(seen, shared.get().data());

  typename TestFixture::template shared_t<int> error = pool.async("thrower", []() -> int { throw 5; }).share();
  for (int i = 0; i < 3; ++i) EXPECT_THROW(error.get(), int);
  EXPECT_TRUE(error.valid());
  typename TestFixture::template shared_t<void> nothing = pool.async("void", [] {});
  nothing.get(), nothing.get();
}

// Some give up while others stay and the result comes.
TYPED_TEST(Graph, TimedWaitsOfManyForOneResult) {
  typename TypeParam::pool pool({.workers = 2});
  for (int round = 0; round < 200 / less; ++round) {
    typename TestFixture::template promise_t<int> promise;
    auto shared = promise.get_future().share();
    std::vector<typename TestFixture::template future_t<int>> all;
    for (int i = 0; i < 10; ++i)
      all.push_back(pool.async("patient", [shared, i] {
        while (shared.wait_for(std::chrono::microseconds(i * 10)) == std::future_status::timeout) {
        }
        return shared.get();
      }));
    TypeParam::sleep_for(std::chrono::microseconds(round));
    promise.set_value(round);
    for (auto& f : all) EXPECT_EQ(f.get(), round);
  }
}

TYPED_TEST(Graph, WhenAllGivesEveryFutureBack) {
  typename TypeParam::pool pool({.workers = 2});
  auto shared = pool.async("shared", [] { return 3.0; }).share();
  auto both = when_all(pool.async("one", [] { return 1; }), pool.async("two", []() -> int { throw 2; }), shared);
  auto [one, two, three] = both.get();
  EXPECT_TRUE(one.is_ready() && two.is_ready() && three.is_ready());
  EXPECT_EQ(one.get(), 1);
  EXPECT_THROW(two.get(), int);
  EXPECT_EQ(three.get(), 3.0);

  for (int n : {0, 1, 1000}) {
    std::vector<typename TestFixture::template future_t<int>> many;
    for (int i = 0; i < n; ++i) many.push_back(pool.async("one", [i] { return i; }));
    auto all = when_all(std::move(many)).get();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), i);
  }
  when_all().get();
  typename TestFixture::template future_t<int> invalid;
  EXPECT_THROW((void)when_all(std::move(invalid)), std::future_error);
}

TYPED_TEST(Graph, WhenAnyGivesTheFirst) {
  typename TypeParam::pool pool({.workers = 1});
  typename TestFixture::template promise_t<int> promise;
  std::vector<typename TestFixture::template future_t<int>> race;
  race.push_back(promise.get_future());
  race.push_back(pool.async("winner", []() -> int { throw 1; }));
  auto first = when_any(std::move(race)).get();
  EXPECT_EQ(first.index, 1u);
  EXPECT_THROW(first.futures[1].get(), int);

  // The loser can be used as before.
  auto after = first.futures[0].then(pool, "after", [](auto ready) { return ready.get() + 1; });
  promise.set_value(41);
  EXPECT_EQ(after.get(), 42);

  auto [index, futures] = when_any(pool.async("one", [] { return 1; }), pool.async("two", [] {}).share()).get();
  EXPECT_LT(index, 2u);
  EXPECT_EQ(std::get<0>(futures).get(), 1);
  std::vector<typename TestFixture::template future_t<int>> none;
  EXPECT_EQ(when_any(std::move(none)).get().index, static_cast<std::size_t>(-1));
}

TYPED_TEST(Graph, WhenAnyRacesOfEqualRunners) {
  typename TypeParam::pool pool({.workers = 2});
  for (int round = 0; round < 2000 / less; ++round) {
    std::vector<typename TestFixture::template future_t<int>> race;
    for (int i = 0; i < 4; ++i) race.push_back(pool.async("runner", [i] { return i; }));
    auto [index, futures] = when_any(std::move(race)).get();
    ASSERT_LT(index, 4u);
    ASSERT_TRUE(futures[index].is_ready());
    for (int i = 0; i < 4; ++i) EXPECT_EQ(futures[static_cast<std::size_t>(i)].get(), i);
  }
}

TYPED_TEST(Graph, DataflowGetsTheValues) {
  typename TypeParam::pool pool({.workers = 2});
  auto shared = pool.async("shared", [] { return std::string("abc"); }).share();
  const std::string* seen = nullptr;
  std::vector<typename TestFixture::template future_t<int>> many;
  for (int i = 0; i < 5; ++i) many.push_back(pool.async("one", [i] { return i; }));
  std::vector<typename TestFixture::template future_t<void>> events;
  for (int i = 0; i < 5; ++i) events.push_back(pool.async("event", [] {}));
  auto result = dataflow(
      pool, "join",
      [&seen](std::unique_ptr<int> own, const std::string& text, std::vector<int> numbers) {
        seen = &text;
        return *own + static_cast<int>(text.size()) + numbers.at(4) + static_cast<int>(numbers.size());
      },
      pool.async("own", [] { return std::make_unique<int>(10); }), shared, std::move(many), std::move(events),
      pool.async("void", [] {}));
  EXPECT_EQ(result.get(), 10 + 3 + 4 + 5);
  EXPECT_EQ(seen, &shared.get()) << "not a copy";
  EXPECT_EQ(dataflow(pool, "source", [] { return 1; }).get(), 1);
  auto unwrapped = dataflow(
      pool, "outer", [&](int x) { return pool.async("inner", [x] { return x + 1; }); },
      pool.async("one", [] { return 1; }));
  static_assert(std::is_same_v<decltype(unwrapped), typename TestFixture::template future_t<int>>);
  EXPECT_EQ(unwrapped.get(), 2);
}

TYPED_TEST(Graph, DataflowPassesTheFirstErrorOn) {
  typename TypeParam::pool pool({.workers = 2});
  std::atomic<bool> ran{false};
  auto sum = dataflow(
      pool, "sum", [&](int, int) { return ran = true, 0; }, pool.async("fine", [] { return 1; }),
      pool.async("thrower",
                 [&]() -> int {
                   TypeParam::sleep_for(1ms);
                   throw input_error("first");
                 }),
      pool.async("thrower", [] { throw runtime_failure("second"); }));
  auto end = dataflow(pool, "end", [&](int) { ran = true; }, std::move(sum));
  EXPECT_THROW(end.get(), input_error);
  EXPECT_FALSE(ran);
  EXPECT_THROW(dataflow(pool, "own", [](int) { throw 3; }, pool.async("one", [] { return 1; })).get(), int);
  typename TestFixture::template future_t<int> invalid;
  EXPECT_THROW((void)dataflow(pool, "none", [](int) {}, std::move(invalid)), std::future_error);
}

// Every cell of a table needs its left and its upper neighbour.
TYPED_TEST(Graph, Wavefront) {
  const auto corner = [](int workers) {
    typename TypeParam::pool pool({.workers = workers});
    const int n = 40;
    using cell = typename TestFixture::template shared_t<unsigned>;
    std::vector<std::vector<cell>> table(n, std::vector<cell>(n));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        table[i][j] = i && j ? dataflow(
                                   pool, "cell", [](unsigned up, unsigned left) { return up + left; }, table[i - 1][j],
                                   table[i][j - 1])
                             : pool.async("border", [] { return 1u; });
    return table[n - 1][n - 1].get();
  };
  unsigned row[40];
  std::fill(std::begin(row), std::end(row), 1u);
  for (int i = 1; i < 40; ++i)
    for (int j = 1; j < 40; ++j) row[j] += row[j - 1];
  for (int workers : {1, 2, 64}) EXPECT_EQ(corner(workers), row[39]);
}

TYPED_TEST(Graph, CapturesAndResultsUsedAreGoneWhenTheResultIsThere) {
  typename TypeParam::pool pool({.workers = 2});
  for (int i = 0; i < 500 / less; ++i) {
    auto captured = std::make_shared<int>(0), used = std::make_shared<int>(0);
    auto result = pool.async("producer", [used] { return used; }).then(pool, "user", [captured](auto&& ready) {
      return ready.is_ready();
    });
    EXPECT_TRUE(result.get());
    EXPECT_EQ(captured.use_count(), 1);
    while (used.use_count() != 1) std::this_thread::yield();  // its producer may be on the way out
  }
}

TYPED_TEST(Graph, PoolWaitsForContinuations) {
  std::atomic<int> ran{0};
  {
    typename TypeParam::pool other({.workers = 1}), pool({.workers = 1});
    for (int i = 0; i < 100; ++i)
      (void)other.async("elsewhere", [] { TypeParam::sleep_for(100us); }).then(pool, "later", [&](auto) { ++ran; });
  }
  EXPECT_EQ(ran, 100);
}

TYPED_TEST(Graph, BrokenPromisesReachTheContinuation) {
  typename TypeParam::pool pool({.workers = 1});
  typename TestFixture::template future_t<int> after;
  {
    typename TestFixture::template promise_t<int> promise;
    after = promise.get_future().then(pool, "after", [](auto ready) { return ready.get(); });
  }
  EXPECT_THROW(after.get(), std::future_error);
  EXPECT_THROW((void)after.then(pool, "none", [](auto) {}), std::future_error);
}

}  // namespace plaq::task
