// Coroutines as tasks: lazy, co_await on futures.
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance.hpp"
#include "plaq/task/counters.hpp"

namespace plaq::task {

template <class B>
struct Lazy : Conformance<B> {};
TYPED_TEST_SUITE(Lazy, every_backend, backend_names);

using namespace std::chrono_literals;

namespace {

template <class Pool>
lazy<long> sum_to(Pool& pool, long n) {
  if (n == 0) co_return 0;
  const long here = co_await pool.async("number", [n] { return n; });
  co_return here + co_await sum_to(pool, n - 1);
}

lazy<int> seven() { co_return 7; }
lazy<> fails(std::string what) {
  throw runtime_failure(what);
  co_return;
}

}  // namespace

TYPED_TEST(Lazy, AwaitsTasksAndEachOther) {
  for (int workers : {1, 2, 5}) {
    typename TypeParam::pool pool({.workers = workers});
    future<long> sum = pool.async("sum", [&] { return sum_to(pool, 200); });
    EXPECT_EQ(sum.get(), 200 * 201 / 2);
  }
}

TYPED_TEST(Lazy, WhatTheFunctionCapturedLives) {
  typename TypeParam::pool pool({.workers = 2});
  promise<int> gate;
  auto kept = std::make_shared<int>(5);
  const std::weak_ptr<int> watched = kept;
  auto sum = pool.async("sum", [kept = std::move(kept), late = gate.get_future()]() mutable -> lazy<int> {
    const int more = co_await std::move(late);
    co_return *kept + more;
  });
  EXPECT_EQ(sum.wait_for(10ms), std::future_status::timeout);
  EXPECT_FALSE(watched.expired());
  gate.set_value(37);
  EXPECT_EQ(sum.get(), 42);
  EXPECT_TRUE(watched.expired());
}

TYPED_TEST(Lazy, ValuesOfEveryKind) {
  typename TypeParam::pool pool({.workers = 2});
  auto all = pool.async("all", [&]() -> lazy<std::unique_ptr<int>> {
    co_await pool.async("nothing", [] {});
    auto own = co_await pool.async("own", [] { return std::make_unique<int>(3); });
    const shared_future<std::string> shared = pool.async("text", [] { return std::string("four"); }).share();
    const std::string& text = co_await shared;
    EXPECT_EQ(&text, &co_await shared) << "of the shared value";
    EXPECT_EQ(text, "four");
    auto [a, b] = co_await when_all(pool.async("a", [] { return 1; }), pool.async("b", [] { return 2; }));
    EXPECT_EQ(a.get() + b.get(), 3);
    *own += co_await seven();
    co_return own;
  });
  EXPECT_EQ(*all.get(), 10);
}

TYPED_TEST(Lazy, ErrorsPass) {
  typename TypeParam::pool pool({.workers = 2});
  auto outer = pool.async("outer", [&]() -> lazy<std::string> {
    std::string seen;
    try {
      co_await pool.async("bad", []() -> int { throw 3; });
    } catch (int i) {
      seen += std::to_string(i);
    }
    try {
      co_await fails("inner");
    } catch (const runtime_failure& e) {
      seen += e.what();
    }
    EXPECT_EQ(seen.rfind("3inner", 0), 0u) << seen;
    co_await fails("outer");
    co_return seen;
  });
  EXPECT_THROW(outer.get(), runtime_failure);
  EXPECT_THROW(pool.async("before", []() -> lazy<int> { throw 1; }).get(), int) << "of the function itself";
  EXPECT_THROW(pool.async("moved",
                          []() -> lazy<int> {
                            lazy<int> one = seven();
                            co_await std::move(one);
                            co_return co_await std::move(one);
                          })
                   .get(),
               std::future_error);
}

TYPED_TEST(Lazy, StoppedBeforeItStarts) {
  typename TypeParam::pool pool({.workers = 1});
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(pool.async("never", source.get_token(), [] { return seven(); }).get(), cancelled);
  EXPECT_EQ(pool.async("runs", std::stop_token(), [] { return seven(); }).get(), 7);
}

// Ten thousand on one worker: a kernel thread each, or a stack, would be too many for `os`.
TYPED_TEST(Lazy, WaitingTakesNeitherWorkerNorStack) {
  typename TypeParam::pool pool({.workers = 1});
  promise<int> gate;
  const auto opened = gate.get_future().share();
  std::vector<future<int>> all;
  const int many = 10000 / less;
  for (int i = 0; i < many; ++i)
    all.push_back(pool.async("waits", [opened, i]() -> lazy<int> { co_return i + co_await opened; }));
  pool.async("later", [] {}).get();
  std::uint64_t stacks = 0;
  for_each_pool([&](const pool_counters& now) { stacks += now.stacks; });
  EXPECT_LE(stacks, 10u);
  gate.set_value(1);
  for (int i = 0; i < many; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)].get(), i + 1);
}

// In a loop: transfers between coroutines need no stack in any build.
TYPED_TEST(Lazy, LongLoopsNeedNoStack) {
  typename TypeParam::pool pool({.workers = 2});
  auto count = pool.async("count", [&]() -> lazy<long> {
    long sum = 0;
    for (int i = 0; i < 100000 / less; ++i) sum += co_await seven();
    for (int i = 0; i < 10000 / less; ++i) sum += co_await pool.async("one", [] { return 1; });
    co_return sum;
  });
  EXPECT_EQ(count.get(), 700000 / less + 10000 / less);
}

TYPED_TEST(Lazy, MayWaitAsTasksDo) {
  typename TypeParam::pool pool({.workers = 1});
  channel<TypeParam, int> pipe(1);
  auto sum = pool.async("sum", [&]() -> lazy<int> {
    int total = co_await seven();
    while (auto next = pipe.pop()) total += *next + co_await pool.async("one", [] { return 1; });
    TypeParam::yield();
    co_return total;
  });
  pool.async("source",
             [&] {
               for (int i = 0; i < 10; ++i) (void)pipe.push(i);
               pipe.close();
             })
      .get();
  EXPECT_EQ(sum.get(), 7 + 45 + 10);
}

TYPED_TEST(Lazy, ResultsThatComeFromAnywhere) {
  typename TypeParam::pool one({.workers = 2}), other({.workers = 2});
  std::atomic<long> sum{0};
  std::vector<future<void>> all;
  for (int i = 0; i < 200 / less; ++i)
    all.push_back(one.async("goes round", [&]() -> lazy<> {
      for (int step = 0; step < 20; ++step) sum += co_await other.async("elsewhere", [step] { return step; });
    }));
  for (auto& f : all) f.get();
  EXPECT_EQ(sum, 200 / less * 190);
}

}  // namespace plaq::task
