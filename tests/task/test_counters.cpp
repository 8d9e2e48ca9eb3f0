#include <thread>

#include "conformance.hpp"
#include "plaq/task/counters.hpp"

namespace plaq::task {

template <class B>
struct Counters : Conformance<B> {};
TYPED_TEST_SUITE(Counters, every_backend, backend_names);

using namespace std::chrono_literals;

std::vector<pool_counters> pools() {
  std::vector<pool_counters> all;
  for_each_pool([&](const pool_counters& seen) { all.push_back(seen); });
  return all;
}

TYPED_TEST(Counters, PoolsComeAndGo) {
  EXPECT_TRUE(pools().empty());
  std::uint64_t first;
  {
    typename TypeParam::pool pool({.workers = 3});
    const auto seen = pools();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].backend, TypeParam::name());
    EXPECT_EQ(seen[0].workers.size(), 3u);
    EXPECT_EQ(seen[0].tasks, 0u);
    first = seen[0].pool;
  }
  typename TypeParam::pool pool({.workers = 1});
  EXPECT_NE(pools().at(0).pool, first);
}

TYPED_TEST(Counters, TasksThatWaitAreQueuedAndCounted) {
  typename TypeParam::pool pool({.workers = 1});
  std::atomic<bool> started{false}, go{false};
  auto holder = pool.async("holder", [&] {
    started = true;
    while (!go) std::this_thread::sleep_for(1ms);
  });
  while (!started) std::this_thread::sleep_for(1ms);
  std::vector<typename TypeParam::template future<void>> all;
  for (int i = 0; i < 5; ++i) all.push_back(pool.async("queued", [] {}));
  const auto seen = pools().at(0);
  EXPECT_EQ(seen.queued + seen.workers[0].queued, 5u);
  EXPECT_EQ(seen.tasks, 6u);
  EXPECT_EQ(seen.stacks, 1u);
  EXPECT_EQ(seen.workers[0].switches, 1u);
  go = true;
  for (auto& f : all) f.get();
  EXPECT_EQ(pools().at(0).workers[0].switches, 6u);
}

// One task holds a worker, the other worker sleeps: the time tells them apart, also in the middle of the task.
TYPED_TEST(Counters, BusyTimeIsThatInsideOfTasks) {
  typename TypeParam::pool pool({.workers = 2});
  timed_workers timed;
  const auto before = pools().at(0);
  std::atomic<bool> go{false};
  auto holder = pool.async("holder", [&] {
    while (!go) std::this_thread::sleep_for(1ms);
  });
  std::this_thread::sleep_for(30ms);
  const auto during = pools().at(0);
  const std::uint64_t busiest = std::max(during.workers[0].busy_ns, during.workers[1].busy_ns);
  const std::uint64_t idlest = std::min(during.workers[0].busy_ns, during.workers[1].busy_ns);
  EXPECT_GT(busiest, 0u);
  EXPECT_EQ(idlest, 0u);
  EXPECT_LE(busiest, during.age_ns - before.age_ns + 1'000'000);
  go = true;
  holder.get();
  const auto after = pools().at(0);
  EXPECT_GE(std::max(after.workers[0].busy_ns, after.workers[1].busy_ns), busiest);
}

TYPED_TEST(Counters, NoTimeIsTakenUnasked) {
  typename TypeParam::pool pool({.workers = 1});
  pool.async("sleeper", [] { std::this_thread::sleep_for(2ms); }).get();
  EXPECT_EQ(pools().at(0).workers[0].busy_ns, 0u);
}

TEST(IdleRate, IsTheRestInHundredthsOfAPercent) {
  EXPECT_EQ(idle_rate(0, 0), 0);
  EXPECT_EQ(idle_rate(0, 1000), 10000);
  EXPECT_EQ(idle_rate(250, 1000), 7500);
  EXPECT_EQ(idle_rate(2000, 1000), 0);
}

}  // namespace plaq::task
