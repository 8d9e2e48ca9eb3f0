// Priorities and domains of tasks.
#include <sched.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct Priority : Conformance<B> {};
TYPED_TEST_SUITE(Priority, every_backend, backend_names);

using namespace std::chrono_literals;

/// Starts tasks while the only worker is busy, and returns the order in which they then ran.
template <class B>
std::string order_of(const std::vector<task_name>& names, bool from_a_task) {
  typename B::pool pool({.workers = 1});
  std::string order;
  std::vector<future<void>> all;
  const auto start_all = [&] {
    for (const task_name& name : names) all.push_back(pool.async(name, [&order, name] { order += name.view(); }));
  };
  promise<void> started, filled;
  auto busy = pool.async("busy", [&] {
    started.set_value();
    if (from_a_task) return start_all();
    auto done = filled.get_future();
    while (!done.is_ready()) std::this_thread::sleep_for(1ms);
  });
  started.get_future().get();
  if (!from_a_task) start_all();
  filled.set_value();
  busy.get();
  for (auto& f : all) f.get();
  return order;
}

TYPED_TEST(Priority, HighComesFirstAndLowLast) {
  const std::vector<task_name> names = {{"l", priority::low},  "n", {"h", priority::high}, {"l", priority::low},
                                        {"h", priority::high}, "n"};
  for (bool from_a_task : {false, true}) EXPECT_EQ(order_of<TypeParam>(names, from_a_task), "hhnnll") << from_a_task;
}

TYPED_TEST(Priority, OfContinuationsToo) {
  typename TypeParam::pool pool({.workers = 1});
  std::string order;
  promise<void> gate;
  const auto opened = gate.get_future().share();
  std::vector<future<void>> all;
  all.push_back(opened.then(pool, {"low", priority::low}, [&](auto) { order += "l"; }));
  all.push_back(dataflow(pool, "normal", [&] { order += "n"; }, opened));
  all.push_back(opened.then(pool, {"high", priority::high}, [&](auto) { order += "h"; }));
  pool.async("opens", [&] { gate.set_value(); }).get();
  for (auto& f : all) f.get();
  EXPECT_EQ(order, "hnl");
}

// A worker that finds no other task takes low ones, also where these wait, yield and come back.
TYPED_TEST(Priority, AllEndInTheEnd) {
  for (int workers : {1, 2, 3}) {
    typename TypeParam::pool pool({.workers = workers});
    std::atomic<int> count{0};
    std::vector<future<void>> all;
    for (int i = 0; i < 300; ++i)
      all.push_back(pool.async({"any", static_cast<priority>(i % 3)}, [&pool, &count, i] {
        TypeParam::yield();
        pool.async({"child", static_cast<priority>((i + 1) % 3)}, [&] { ++count; }).get();
        this_task::sleep_for(10us);
      }));
    for (auto& f : all) f.get();
    EXPECT_EQ(count, 300);
  }
}

// A chain of normal tasks, each made by the one before, does not keep a low one away for ever.
TYPED_TEST(Priority, LowDoesNotStarve) {
  if (TypeParam::name() == "hpx") GTEST_SKIP() << "HPX runs low tasks where no other can run";
  typename TypeParam::pool pool({.workers = 1});
  std::atomic<bool> came{false};
  auto chain = pool.async("chain", [&] {
    auto low = pool.async({"low", priority::low}, [&] { came = true; });
    long rounds = 0;
    for (; !came && rounds < 100000; ++rounds) TypeParam::yield();
    low.get();
    return rounds;
  });
  EXPECT_LT(chain.get(), 100000);
}

TYPED_TEST(Priority, OfLoops) {
  typename TypeParam::pool pool({.workers = 2});
  std::vector<int> touched(1000);
  parallel_for(pool, {"loop", priority::high}, 0, 1000, [&](int i) { ++touched[static_cast<std::size_t>(i)]; });
  EXPECT_EQ(touched, std::vector<int>(1000, 1));
}

TYPED_TEST(Priority, OneDomainIsEverywhere) {
  typename TypeParam::pool pool({.workers = 2, .bind = binding::none});
  EXPECT_EQ(pool.domains(), 1) << "unbound workers are of one domain";
  EXPECT_EQ(pool.domain_of(1), 0);
  EXPECT_EQ(pool.async({"anywhere", on_domain(0)}, [] { return 1; }).get(), 1);
  EXPECT_THROW((void)pool.async({"nowhere", on_domain(1)}, [] {}), input_error);
  EXPECT_THROW((void)pool.async({"nowhere", on_domain(-1)}, [] {}), input_error);
  EXPECT_THROW((void)pool.async({"nowhere", on_domain(1 << 20)}, [] {}), input_error);
}

/// Pool of two workers for each of two domains, which need not exist: workers of domain d are bound to hardware thread
/// d of this process, as often as it has that many.
template <class B>
struct Domains : Conformance<B> {
  static detail::placement two_domains() {
    const std::vector<int> cpus = detail::allowed_cpus();
    const std::vector<int> first{cpus.front()}, second{cpus[1 % cpus.size()]};
    return {4, {first, first, second, second}, false, {0, 0, 1, 1}};
  }
};
TYPED_TEST_SUITE(Domains, every_backend, backend_names);

TYPED_TEST(Domains, ATaskRunsOnTheWorkersOfItsDomain) {
  const auto place = this->two_domains();
  if (!detail::may_bind(place.cpus)) GTEST_SKIP() << "the kernel binds no threads";
  typename TypeParam::pool pool(256 * 1024, place);
  ASSERT_EQ(pool.domains(), 2);
  std::vector<std::atomic<int>> count(2), elsewhere(2);
  std::vector<future<void>> all;
  for (int i = 0; i < 400; ++i)
    all.push_back(pool.async({"bound", on_domain(i % 2), static_cast<priority>(i % 3)}, [&, i] {
      const auto domain = static_cast<std::size_t>(i % 2);
      for (int visit = 0; visit < 3; ++visit) {
        ++count[domain];
        if (sched_getcpu() != place.cpus[2 * domain][0]) ++elsewhere[domain];
        if (visit == 0) TypeParam::yield();
        if (visit == 1) this_task::sleep_for(10us);
      }
    }));
  for (auto& f : all) f.get();
  for (std::size_t domain : {0u, 1u}) {
    EXPECT_EQ(count[domain], 600);
    if (TypeParam::name() != "hpx") {  // which may move its threads
      EXPECT_EQ(elsewhere[domain], 0);
    }
  }
}

// While the workers of one domain are busy, its tasks wait, and those of the other run.
TYPED_TEST(Domains, OneDoesNotWaitForTheOther) {
  if (TypeParam::name() == "hpx") GTEST_SKIP() << "HPX may move its threads";
  if (TypeParam::name() == "os") GTEST_SKIP() << "slots are of the pool";
  const auto place = this->two_domains();
  if (!detail::may_bind(place.cpus)) GTEST_SKIP() << "the kernel binds no threads";
  typename TypeParam::pool pool(256 * 1024, place);
  std::atomic<bool> go{false};
  std::vector<future<void>> busy;
  for (int i = 0; i < 2; ++i)
    busy.push_back(pool.async({"busy", on_domain(0)}, [&] {
      while (!go) std::this_thread::sleep_for(100us);
    }));
  auto waits = pool.async({"waits", on_domain(0)}, [] {});
  for (int i = 0; i < 50; ++i) pool.async({"runs", on_domain(1)}, [] {}).get();
  pool.async("anywhere", [] {}).get();
  EXPECT_FALSE(waits.is_ready());
  go = true;
  waits.get();
  for (auto& f : busy) f.get();
}

// First touch: a loop of static sharing has the same indices on the same domain each time.
TYPED_TEST(Domains, StaticLoopsStayOnTheirDomains) {
  if (TypeParam::name() == "hpx") GTEST_SKIP() << "HPX may move its threads";
  const auto place = this->two_domains();
  if (!detail::may_bind(place.cpus)) GTEST_SKIP() << "the kernel binds no threads";
  typename TypeParam::pool pool(256 * 1024, place);
  std::vector<int> touched_on(1000), found_on(1000);
  const auto on = [](std::vector<int>& cpus) { return [&](std::size_t i) { cpus[i] = sched_getcpu(); }; };
  pool.async({"caller", on_domain(1)},
             [&] {
               parallel_for(pool, "touch", std::size_t{0}, touched_on.size(), on(touched_on),
                            {.sharing = sharing::static_});
               for (int round = 0; round < 20; ++round) {
                 parallel_for(pool, "use", std::size_t{0}, found_on.size(), on(found_on),
                              {.sharing = sharing::static_});
                 EXPECT_EQ(found_on, touched_on);
               }
             })
      .get();
  EXPECT_EQ(touched_on.front(), place.cpus.front()[0]) << "in the order of the workers";
  EXPECT_EQ(touched_on.back(), place.cpus.back()[0]);
}

}  // namespace plaq::task
