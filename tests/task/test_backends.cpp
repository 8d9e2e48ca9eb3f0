#include <sched.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

#include "conformance.hpp"

namespace plaq::task {

TEST(Backends, AreChosenByName) {
  for (const std::string& name : backends()) {
    const auto seen = with_backend(name, {.workers = 2}, [](auto& pool) {
      using B = typename std::decay_t<decltype(pool)>::backend;
      static_assert(Backend<B>);
      return pool.async("name", [] { return std::string(B::name()); }).get();
    });
    EXPECT_EQ(seen, name);
  }
  with_backend("os", {}, [](auto& pool) { EXPECT_EQ(pool.workers(), physical_cores()); });
}

TEST(Backends, UnknownOnesAreNamedWithTheKnown) {
  try {
    with_backend("hpy", {}, [](auto&) {});
    FAIL();
  } catch (const input_error& e) {
    EXPECT_EQ(std::string(e.what()).rfind("unknown thread back end 'hpy'; this build has: fiber, os", 0), 0u);
  }
  EXPECT_THROW(with_backend("os", {.workers = -1}, [](auto&) {}), input_error);
}

TEST(Backends, ErrorsOfTheCallerComeThrough) {
  EXPECT_THROW(with_backend("fiber", {}, [](auto&) { throw runtime_failure("inside"); }), runtime_failure);
}

#ifdef PLAQ_WITH_HPX
TEST(Backends, PoolsThatShareARuntimeNeedTheSameOptions) {
  hpx::pool first({.workers = 2}), second({.workers = 2});
  EXPECT_EQ(first.async("outer", [&] { return second.async("inner", [] { return 3; }).get(); }).get(), 3);
  EXPECT_THROW(hpx::pool({.workers = 1}), input_error);
  EXPECT_THROW(hpx::pool({.workers = 2, .stack_size = 1 << 20}), input_error);
}

// HPX ends the process where it gets no stack.
TEST(Backends, TasksOfHpxBeyondTheStacksThatFitFailThroughTheirFutures) {
  hpx::pool pool({.workers = 2});
  promise<void> go;
  const auto gone = go.get_future().share();
  std::vector<future<void>> all;
  for (int i = 0; i < 100'000; ++i) all.push_back(pool.async("waits", [&] { gone.wait(); }));
  while (std::ranges::none_of(all, &future<void>::is_ready)) std::this_thread::yield();  // the first that failed
  go.set_value();
  int failed = 0;
  for (auto& f : all) try {
      f.get();
    } catch (const runtime_failure&) {
      ++failed;
    }
  EXPECT_GT(failed, 0);
  EXPECT_LT(failed, 100'000);
  EXPECT_EQ(pool.async("one more", [] { return 1; }).get(), 1);
}
#endif

// A task that cannot get its stack fails through its future, and the pool continues.
TEST(Backends, NoMemoryForAStackIsAnErrorOfTheTask) {
  fiber::pool pool({.workers = 1, .stack_size = std::size_t{1} << 60});
  EXPECT_THROW(pool.async("too big", [] {}).get(), runtime_failure);
  EXPECT_THROW(pool.async("too big", [] {}).get(), runtime_failure);
}

TEST(Backends, StackSizeIsThere) {
  fiber::pool pool({.workers = 1, .stack_size = 4 << 20});
  EXPECT_EQ(pool.async("deep",
                       [] {
                         volatile char frame[3 << 20];
                         frame[0] = 1;
                         frame[sizeof(frame) - 1] = 2;
                         return frame[0] + frame[sizeof(frame) - 1];
                       })
                .get(),
            3);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
int overflow(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth > 1'000'000 ? 0 : overflow(depth + 1) + frame[0];
}

TEST(BackendsDeathTest, StackOverflowMeetsTheGuardAndIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        fiber::pool pool({.workers = 1, .stack_size = 192 * 1024});
        pool.async("endless", [] { return overflow(0); }).get();
      },
      testing::KilledBySignal(SIGSEGV), "plaq: a task overflowed its stack of 192 KiB, .* options::stack_size");
}

// As compilers make it without -fstack-clash-protection.
#ifdef __clang__
[[gnu::noinline]]
#else
[[gnu::noinline, gnu::optimize("no-stack-clash-protection")]]
#endif
int frame_of_300_kib() {
  volatile char frame[300 * 1024];
  frame[0] = 1;  // far below what is the task's
  return frame[0];
}

TEST(BackendsDeathTest, FrameLargerThanAStackDoesNotReachAnother) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        fiber::pool pool({.workers = 1});
        promise<void> go;
        const auto gone = go.get_future().share();
        auto first = pool.async("first", [&] {
          gone.wait();
          return frame_of_300_kib();
        });
        std::vector<future<void>> others;  // their stacks lie below that of the first
        for (int i = 0; i < 8; ++i) others.push_back(pool.async("other", [&] { gone.wait(); }));
        pool.async("starter", [&] { go.set_value(); }).get();
        first.get();
      },
      testing::KilledBySignal(SIGSEGV), "plaq: a task overflowed its stack of 256 KiB");
}

// Other faults, and signals that were sent, are what they were.
TEST(BackendsDeathTest, OtherFaultsAreNotCalledOverflow) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto in_a_task = [](auto&& work) {
    fiber::pool pool({.workers = 1});
    pool.async("faulty", work).get();
  };
  const auto nowhere = [] { *reinterpret_cast<volatile int*>(8) = 1; };
  EXPECT_EXIT(in_a_task(nowhere), testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(in_a_task([] { raise(SIGSEGV); }), testing::KilledBySignal(SIGSEGV), "^$");
}
#endif

struct Cores : testing::Test {
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("plaq_cores_" + std::to_string(getpid()));
  ~Cores() override { std::filesystem::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text << '\n';
  }
};

TEST_F(Cores, HardwareThreadsOfOneCoreCountOnce) {
  for (int cpu = 0; cpu < 4; ++cpu)
    write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          cpu % 2 ? "1,3" : "0,2");
  using cores = std::vector<std::vector<int>>;
  EXPECT_EQ(detail::by_core({0, 1, 2, 3}, root), (cores{{0, 2}, {1, 3}}));
  EXPECT_EQ(detail::by_core({0, 2}, root), (cores{{0, 2}}));
  EXPECT_EQ(detail::by_core({3}, root), (cores{{3}}));
  EXPECT_EQ(detail::by_core({0, 7, 8}, root), (cores{{0}, {7}, {8}})) << "no topology: each a core";
}

TEST_F(Cores, TightestLimitOfAnyGroupAbove) {
  EXPECT_EQ(detail::cgroup_limit(root), 0);
  write("proc/self/cgroup", "0::/job/step");
  write("sys/fs/cgroup/job/step/cpu.max", "max 100000");
  EXPECT_EQ(detail::cgroup_limit(root), 0);
  write("sys/fs/cgroup/job/cpu.max", "150000 100000");
  EXPECT_DOUBLE_EQ(detail::cgroup_limit(root), 1.5);
  write("sys/fs/cgroup/job/step/cpu.max", "300000 100000");
  EXPECT_DOUBLE_EQ(detail::cgroup_limit(root), 1.5);
}

TEST_F(Cores, LimitOfContainersThatSeeTheirGroupAsTop) {
  write("proc/self/cgroup", "0::/");
  write("sys/fs/cgroup/cpu.max", "200000 100000");
  EXPECT_DOUBLE_EQ(detail::cgroup_limit(root), 2);
}

TEST_F(Cores, LimitOfTheOldHierarchy) {
  write("proc/self/cgroup", "5:cpuset:/other\n4:cpu,cpuacct:/job\n1:name=systemd:/");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(detail::cgroup_limit(root), 0);
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000");
  EXPECT_DOUBLE_EQ(detail::cgroup_limit(root), 0.5);
}

TEST(CoresOfThisMachine, RespectTheAffinityMask) {
  const auto before = detail::allowed_cpus();
  ASSERT_FALSE(before.empty());
  EXPECT_GE(physical_cores(), 1);
  EXPECT_LE(physical_cores(), static_cast<int>(before.size()));
  cpu_set_t one, all;
  CPU_ZERO(&one);
  CPU_ZERO(&all);
  CPU_SET(before.back(), &one);
  for (int cpu : before) CPU_SET(cpu, &all);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(detail::allowed_cpus(), std::vector<int>{before.back()});
  EXPECT_EQ(physical_cores(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

}  // namespace plaq::task
