// The clock of steps against the processor time of the thread.
#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <thread>

#include "plaq/collection/runtime/step_clock.hpp"

namespace plaq::elements {
namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}
void compute(double seconds) {
  for (const double start = processor_seconds(); processor_seconds() - start < seconds;) {
  }
}

TEST(step_clock, adds_up_to_the_processor_time_of_many_short_steps) {
  double sum = 0, direct = 0;
  for (int k = 0; k < 2000; ++k) {
    const step_clock clock;
    const double start = processor_seconds();
    compute(1e-5);
    direct += processor_seconds() - start;
    sum += clock.seconds().value();
  }
  EXPECT_GT(sum, direct * 0.99);
  EXPECT_LT(sum, direct * 3);  // with the readings themselves and short interruptions
}

TEST(step_clock, counts_no_sleep_and_no_other_thread) {
  const step_clock clock;
  const double start = processor_seconds();
  compute(1e-3);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double direct = processor_seconds() - start;
  EXPECT_NEAR(clock.seconds().value(), direct, 2e-4);
  std::jthread([&] { EXPECT_FALSE(clock.seconds()); });
}

}  // namespace
}  // namespace plaq::elements
