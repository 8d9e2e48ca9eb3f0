#include <dlfcn.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>

#include "plaq/trace/buffer.hpp"
#include "plaq/trace/clock.hpp"
#include "plaq/trace/gpu_activity.hpp"

namespace plaq::trace {

namespace {

/// The fake library, and what stands for CUDA in it.
struct GpuActivity : testing::Test {
  void* library = dlopen(FAKE_CUPTI, RTLD_NOW);
  template <class F>
  F* symbol(const char* name) {
    return reinterpret_cast<F*>(dlsym(library, name));
  }
  void (*launch)(const char*, std::uint32_t, std::uint32_t, int) =
      symbol<void(const char*, std::uint32_t, std::uint32_t, int)>("fake_cuda_launch");
  void (*copy)(std::uint64_t, std::uint32_t, std::uint32_t) =
      symbol<void(std::uint64_t, std::uint32_t, std::uint32_t)>("fake_cuda_copy");

  static void begins(std::uint64_t task) { detail::gpu_task_begins.load()(task); }
  static void ends() { detail::gpu_task_ends.load()(); }
};

std::string name_of(const gpu_interval& i) { return detail::names_from(i.name).at(0); }

std::map<std::uint32_t, std::uint64_t> by_correlation(const gpu_activity::found& all) {
  std::map<std::uint32_t, std::uint64_t> tasks;
  for (const gpu_call& c : all.calls) EXPECT_TRUE(tasks.emplace(c.correlation, c.task).second);
  return tasks;
}

}  // namespace

TEST_F(GpuActivity, KnowsWhatRanWhereAndWhoAskedForIt) {
  gpu_activity activity({FAKE_CUPTI});
  ASSERT_TRUE(activity.running());
  const std::uint64_t before = detail::monotonic_ns();
  begins(7);
  launch("_ZN4plaq5hoppsEPd", 0, 3, 1);
  ends();
  std::thread([&] {  // a task goes on elsewhere, another has its worker
    begins(7);
    copy(4096, 1, 5);
    ends();
  }).join();
  begins(8);
  launch("plain", 0, 3, 1);
  ends();
  launch("of no task", 0, 4, 1);
  const auto all = activity.collect();
  const std::uint64_t after = detail::monotonic_ns();

  ASSERT_EQ(all.intervals.size(), 4u);
  auto tasks = by_correlation(all);
  ASSERT_EQ(tasks.size(), 3u);
  const auto& [first, second, third, fourth] = std::tie(all.intervals[0], all.intervals[1], all.intervals[2],
                                                        all.intervals[3]);
  EXPECT_EQ(name_of(first), "plaq::hopps(double*)") << "as it was written";
  EXPECT_EQ(tasks[first.correlation], 7u);
  EXPECT_EQ(first.gpu, 0u);
  EXPECT_EQ(first.stream, 3u);
  EXPECT_EQ(first.bytes, 0u);
  EXPECT_EQ(first.end - first.begin, 1000u);
  EXPECT_EQ(name_of(second), "copy host to device");
  EXPECT_EQ(tasks[second.correlation], 7u);
  EXPECT_EQ(second.gpu, 1u);
  EXPECT_EQ(second.stream, 5u);
  EXPECT_EQ(second.bytes, 4096u);
  EXPECT_EQ(name_of(third), "plain");
  EXPECT_EQ(tasks[third.correlation], 8u);
  EXPECT_EQ(tasks.count(fourth.correlation), 0u);
  for (const gpu_interval& i : all.intervals) {  // on our clock, not on the 1000 s of theirs
    EXPECT_GE(i.begin + 1'000'000, before);
    EXPECT_LE(i.begin, after + 1'000'000);
  }
  EXPECT_TRUE(activity.collect().intervals.empty()) << "each is told once";
}

TEST_F(GpuActivity, ReadsManyBuffers) {
  gpu_activity activity({FAKE_CUPTI});
  constexpr int launches = 20000;
  for (int i = 0; i < launches; ++i) {
    begins(1 + std::uint64_t(i));
    launch("many", 0, 1, 1);
    ends();
  }
  const auto all = activity.collect();
  ASSERT_EQ(all.intervals.size(), std::size_t(launches));
  auto tasks = by_correlation(all);
  for (int i = 0; i < launches; ++i) EXPECT_EQ(tasks.at(all.intervals[i].correlation), 1 + std::uint64_t(i));
  EXPECT_EQ(all.lost, 0u);
}

TEST_F(GpuActivity, WhatHasNoTimesIsCountedAsLost) {
  gpu_activity activity({FAKE_CUPTI});
  launch("unfinished", 0, 1, 0);
  const auto all = activity.collect(true);
  EXPECT_TRUE(all.intervals.empty());
  EXPECT_EQ(all.lost, 1u);
}

TEST_F(GpuActivity, EndsWithItsObject) {
  { gpu_activity activity({FAKE_CUPTI}); }
  EXPECT_EQ(detail::gpu_task_begins.load(), nullptr);
  EXPECT_EQ(detail::gpu_task_ends.load(), nullptr);
  launch("not seen", 0, 1, 1);
  gpu_activity again({FAKE_CUPTI});
  EXPECT_TRUE(again.running());
  EXPECT_TRUE(again.collect(true).intervals.empty());
}

TEST_F(GpuActivity, ATaskLeftOverByAnEarlierSessionIsForgotten) {
  {
    gpu_activity activity({FAKE_CUPTI});
    begins(5);  // and it still runs at the end
  }
  gpu_activity again({FAKE_CUPTI});
  begins(6);
  ends();
  launch("of no task", 0, 1, 1);
  EXPECT_TRUE(again.collect().calls.empty());
}

TEST(GpuActivityNone, WithoutCuptiNothingIsFound) {
  gpu_activity activity({"no such library"});
  EXPECT_FALSE(activity.running());
  EXPECT_TRUE(activity.collect(true).intervals.empty());
  EXPECT_EQ(detail::gpu_task_begins.load(), nullptr);
}

}  // namespace plaq::trace
