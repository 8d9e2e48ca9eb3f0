#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <utility>

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
  void (*launch)(const char*, std::uint32_t, std::uint32_t,
                 int) = symbol<void(const char*, std::uint32_t, std::uint32_t, int)>("fake_cuda_launch");
  void (*copy)(std::uint64_t, std::uint32_t,
               std::uint32_t) = symbol<void(std::uint64_t, std::uint32_t, std::uint32_t)>("fake_cuda_copy");

  static void begins(std::uint64_t task) { detail::gpu_task_begins.load()(task); }
  static void ends() { detail::gpu_task_ends.load()(); }
};

std::string name_of(const gpu_interval& i) { return detail::names_from(i.name).at(0); }

std::map<std::uint32_t, std::uint64_t> by_correlation(const gpu_activity::collected& all) {
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
  std::thread([&] {  // a task resumes elsewhere, another has its worker
    begins(7);
    copy(4096, 1, 5);
    ends();
  })
      .join();
  begins(8);
  launch("plain", 0, 3, 1);
  ends();
  launch("of no task", 0, 4, 1);
  const auto all = activity.collect();
  const std::uint64_t after = detail::monotonic_ns();

  ASSERT_EQ(all.intervals.size(), 4u);
  auto tasks = by_correlation(all);
  ASSERT_EQ(tasks.size(), 3u);
  const auto& [first, second, third, fourth] =
      std::tie(all.intervals[0], all.intervals[1], all.intervals[2], all.intervals[3]);
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
  EXPECT_TRUE(activity.collect().intervals.empty()) << "each is collected once";
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

TEST_F(GpuActivity, EveryTransferHasItsName) {
  const auto copy_of_kind = symbol<void(std::uint64_t, std::uint32_t, std::uint32_t, int)>("fake_cuda_copy_of_kind");
  const auto set = symbol<void(std::uint64_t, std::uint32_t, std::uint32_t)>("fake_cuda_set");
  gpu_activity activity({FAKE_CUPTI});
  const std::pair<int, const char*> kinds[] = {{1, "copy host to device"},   {2, "copy device to host"},
                                               {8, "copy device to device"}, {9, "copy host to host"},
                                               {10, "copy device to peer"},  {3, "copy"}};  // to an array
  for (const auto& [kind, name] : kinds) copy_of_kind(std::uint64_t(100 + kind), 1, 2, kind);
  set(77, 0, 4);
  launch(nullptr, 0, 4, 1);
  const auto all = activity.collect().intervals;
  ASSERT_EQ(all.size(), 8u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(name_of(all[i]), kinds[i].second);
    EXPECT_EQ(all[i].bytes, std::uint64_t(100 + kinds[i].first));
  }
  EXPECT_EQ(name_of(all[6]), "set memory");
  EXPECT_EQ(all[6].bytes, 77u);
  EXPECT_EQ(all[6].stream, 4u);
  EXPECT_EQ(all[6].end - all[6].begin, 250u);
  EXPECT_EQ(name_of(all[7]), "kernel") << "one without a name";
}

TEST_F(GpuActivity, CallsThatAnotherToolHasMarkedAreNotTasks) {
  gpu_activity activity({FAKE_CUPTI});
  symbol<void(std::uint64_t)>("fake_cuda_foreign_call")(5);
  begins(9);
  copy(1, 0, 0);
  ends();
  const auto all = activity.collect();
  ASSERT_EQ(all.calls.size(), 1u);
  EXPECT_EQ(all.calls[0].task, 9u);
}

// A CUPTI that does not fit its driver: everything enabled so far is disabled again, and the program continues without.
TEST_F(GpuActivity, ACuptiThatDoesNotWorkIsNone) {
  const auto fails = static_cast<const char**>(dlsym(library, "fake_cupti_fails"));
  const auto fails_for = static_cast<int*>(dlsym(library, "fake_cupti_fails_for"));
  const auto enabled = symbol<int()>("fake_cupti_enabled");
  const auto expect_none = [&](const char* function, int kind = 0) {
    *fails = function;
    *fails_for = kind;
    gpu_activity activity({FAKE_CUPTI});
    EXPECT_FALSE(activity.running()) << function << " " << kind;
    EXPECT_EQ(enabled(), 0) << function << " " << kind;
    EXPECT_EQ(detail::gpu_task_begins.load(), nullptr);
    launch("not seen", 0, 1, 1);
    EXPECT_TRUE(activity.collect(true).intervals.empty());
  };
  expect_none("cuptiActivityRegisterCallbacks");
  expect_none("cuptiGetTimestamp");
  for (const int kind : {1, 2, 4, 5, 10, 39}) expect_none("cuptiActivityEnable", kind);
  *fails = "";
  gpu_activity works({FAKE_CUPTI});
  EXPECT_TRUE(works.running());
}

TEST(GpuActivityNone, ALibraryOfAnotherKindIsNone) {
  gpu_activity activity({FAKE_NVML});
  EXPECT_FALSE(activity.running());
  gpu_activity second({"no such library", FAKE_CUPTI});
  EXPECT_TRUE(second.running()) << "the first that can be loaded";
}

TEST(GpuActivityNone, LooksWhereTheToolkitIs) {
  setenv("CUDA_HOME", "/the/home", 1);
  const auto names = gpu_activity::cupti_libraries();
  unsetenv("CUDA_HOME");
  EXPECT_EQ(names.front(), "libcupti.so.13");
  EXPECT_NE(std::ranges::find(names, "/the/home/extras/CUPTI/lib64/libcupti.so"), names.end());
  const auto without = gpu_activity::cupti_libraries();
  EXPECT_EQ(std::ranges::find(without, "/the/home/extras/CUPTI/lib64/libcupti.so"), without.end());
}

}  // namespace plaq::trace
