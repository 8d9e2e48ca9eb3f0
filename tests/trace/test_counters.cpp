#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/trace/counters.hpp"
#include "plaq/trace/gpu.hpp"

namespace plaq::trace {

using namespace std::chrono_literals;

namespace {

std::map<std::string, sample> by_name() {
  std::map<std::string, sample> out;
  for (const sample& s : read_counters()) out[s.name] = s;
  return out;
}

}  // namespace

TEST(Counters, OfTheUserAreAddedUnderOneName) {
  counter one("test things", "1");
  one.set(3);
  one.add(1.5);
  EXPECT_EQ(read_counter("test things"), 4.5);
  {
    counter two("test things", "1");
    two.set(10);
    EXPECT_EQ(read_counter("test things"), 14.5);
    EXPECT_EQ(by_name()["test things"].value, 14.5);
  }
  EXPECT_EQ(read_counter("test things"), 4.5);
}

TEST(Counters, UnknownNameListsTheKnownOnes) {
  counter known("test known", "1");
  try {
    read_counter("nonsense");
    FAIL();
  } catch (const input_error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'nonsense'"), std::string::npos);
    EXPECT_NE(message.find("'test known'"), std::string::npos);
    EXPECT_NE(message.find("'resident memory'"), std::string::npos);
  }
}

TEST(Counters, OfTheSystemMakeSense) {
  const auto before = by_name();
  std::vector<char> memory(64 << 20, 1);
  volatile double x = 1;
  for (long i = 0; i < 20'000'000; ++i) x = x * 1.0000001;
  const auto after = by_name();
  EXPECT_GT(after.at("resident memory").value, before.at("resident memory").value + (32 << 20));
  EXPECT_GE(after.at("peak resident memory").value, after.at("resident memory").value * 0.9);
  EXPECT_GT(after.at("minor page faults").value, before.at("minor page faults").value);
  EXPECT_GT(after.at("user time").value, before.at("user time").value);
  EXPECT_GT(read_counter(std::string("busy time of core ").append(std::to_string(sched_getcpu()))), 0);
}

TEST(Counters, OfTheSystemKnowTheThreads) {
  const auto switches = [] {
    std::map<long, double> of;
    for (const sample& s : read_counters())
      if (s.name == "voluntary context switches") of[s.thread] = s.value;
    return of;
  };
  const auto before = switches();
  std::atomic<long> other{0};
  std::atomic<bool> go{false};
  std::thread sleeper([&] {
    other = ::gettid();
    while (!go) std::this_thread::sleep_for(1ms);
  });
  while (other == 0) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(1ms);
  const auto after = switches();
  go = true;
  sleeper.join();
  EXPECT_FALSE(before.contains(other));
  EXPECT_TRUE(after.contains(other));
  EXPECT_EQ(after.size(), before.size() + 1);
  EXPECT_GT(after.at(::gettid()), before.at(::gettid())) << "it slept";
}

TEST(Counters, OfGpusComeFromNvml) {
  gpu_counters gpus(FAKE_NVML);
  ASSERT_EQ(gpus.gpus(), 2);
  EXPECT_EQ(read_counter("GPU 0 utilisation"), 75);
  EXPECT_EQ(read_counter("GPU 1 memory utilisation"), 20);
  EXPECT_EQ(read_counter("GPU 1 memory"), 400);
  EXPECT_EQ(read_counter("GPU 0 power"), 123.5);
  EXPECT_EQ(read_counter("GPU 0 clock"), 1980);
  EXPECT_EQ(read_counter("GPU 0 memory clock"), 2619);
  EXPECT_THROW(read_counter("GPU 1 power"), input_error);  // it does not say
}

struct Nvml : testing::Test {
  void* library = dlopen(FAKE_NVML, RTLD_NOW);
  unsigned& gpus = *static_cast<unsigned*>(dlsym(library, "fake_nvml_gpus"));
  const char*& fails = *static_cast<const char**>(dlsym(library, "fake_nvml_fails"));
  int (*running)() = reinterpret_cast<int (*)()>(dlsym(library, "fake_nvml_running"));
  ~Nvml() override {
    gpus = 2;
    fails = "";
    dlclose(library);
  }
};

TEST_F(Nvml, SaysInWordsWhatThereIs) {
  EXPECT_EQ(gpu_counters(FAKE_NVML).description(), "2 GPUs");
  gpus = 1;
  EXPECT_EQ(gpu_counters(FAKE_NVML).description(), "1 GPU");
  gpus = 0;
  EXPECT_EQ(gpu_counters(FAKE_NVML).description(), "no GPU");
  EXPECT_EQ(gpu_counters("no such library").description(), "none");
  EXPECT_EQ(gpu_counters(FAKE_CUPTI).description(), "none") << "a library of another kind";
  EXPECT_EQ(running(), 0) << "each beginning has an end";
}

TEST_F(Nvml, ThatDoesNotWorkHasNoGpus) {
  for (const char* what : {"init", "count"}) {
    fails = what;
    gpu_counters none(FAKE_NVML);
    EXPECT_EQ(none.gpus(), 0) << what;
    EXPECT_THROW(read_counter("GPU 0 memory"), input_error);
  }
  EXPECT_EQ(running(), 0);
}

TEST_F(Nvml, WhatOneGpuDoesNotTellTheOthersDo) {
  fails = "handle";
  {
    gpu_counters one(FAKE_NVML);
    EXPECT_EQ(one.gpus(), 1);
  }
  fails = "utilisation";
  gpu_counters both(FAKE_NVML);
  EXPECT_THROW(read_counter("GPU 0 utilisation"), input_error);
  EXPECT_EQ(read_counter("GPU 0 memory"), 400);
}

// What has gone is not asked any more, however many ask at once.
TEST(Counters, SourcesMayGoWhileOthersLook) {
  std::atomic<bool> stop{false};
  std::atomic<long> looks{0};
  std::vector<std::jthread> readers;
  for (int t = 0; t < 2; ++t)
    readers.emplace_back([&] {
      while (!stop) {
        double sum = 0;
        for (const sample& s : read_counters())
          if (s.name == "passing") sum += s.value;
        EXPECT_LE(sum, 3);
        ++looks;
      }
    });
  for (int i = 0; i < 200 || looks < 20; ++i) {
    auto alive = std::make_unique<int>(1);
    counter_source passing([&alive = *alive](std::vector<sample>& out) {
      for (int k = 0; k < 3; ++k) out.push_back({"passing", "1", k, -1, double(alive)});
    });
  }
  stop = true;
}

TEST(Counters, OfSeveralThreadsAreAdded) {
  counter shared("added by threads", "1");
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) shared.add(0.5);
      });
  }
  EXPECT_EQ(read_counter("added by threads"), 20'000);
  shared.set(-1);
  EXPECT_EQ(read_counter("added by threads"), -1);
}

TEST(Counters, OfOneNameAndOtherWorkersStayApart) {
  counter_source first([](std::vector<sample>& out) {
    out.push_back({"of workers", "1", 0, -1, 1});
    out.push_back({"of workers", "1", 1, -1, 10});
    out.push_back({"of workers", "1", 1, 7, 100});
  });
  counter_source second([](std::vector<sample>& out) { out.push_back({"of workers", "1", 1, -1, 1000}); });
  std::map<std::pair<int, long>, double> found;
  for (const sample& s : read_counters())
    if (s.name == "of workers") {
      EXPECT_TRUE(found.emplace(std::pair(s.worker, s.thread), s.value).second);
    }
  EXPECT_EQ(found, (std::map<std::pair<int, long>, double>{{{0, -1}, 1}, {{1, -1}, 1010}, {{1, 7}, 100}}));
  EXPECT_EQ(read_counter("of workers"), 1111);
}

TEST(Counters, WithoutNvmlThereAreNoGpus) {
  gpu_counters gpus("no such library");
  EXPECT_EQ(gpus.gpus(), 0);
  EXPECT_THROW(read_counter("GPU 0 utilisation"), input_error);
}

}  // namespace plaq::trace
