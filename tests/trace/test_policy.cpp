#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "plaq/base/error.hpp"
#include "plaq/trace/counters.hpp"
#include "plaq/trace/policy.hpp"

namespace plaq::trace {

using namespace std::chrono_literals;

TEST(Policy, FollowsACounter) {
  counter load("test load", "1");
  std::atomic<int> width{1};
  policy wider(1ms, [&] { width = read_counter("test load") > 10 ? 8 : 2; });
  while (width != 2) std::this_thread::sleep_for(1ms);
  load.set(11);
  while (width != 8) std::this_thread::sleep_for(1ms);
}

TEST(Policy, IsNotCalledAfterItsEnd) {
  std::atomic<bool> alive{true}, late{false};
  std::atomic<int> calls{0};
  {
    policy p(1ms, [&] {
      if (!alive) late = true;
      ++calls;
    });
    while (calls < 3) std::this_thread::sleep_for(1ms);
  }
  alive = false;
  const int before = calls;
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(calls, before);
  EXPECT_FALSE(late);
}

TEST(Policy, EndsAtOnceHoweverLongItsPeriod) {
  policy rarely(1h, [] {});
  EXPECT_THROW(policy(0ms, [] {}), input_error);
}

}  // namespace plaq::trace
