// Timed waits: by any duration and clock, within tasks and outside.
#include <chrono>
#include <mutex>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct Deadline : Conformance<B> {};
TYPED_TEST_SUITE(Deadline, every_backend, backend_names);

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using wall = std::chrono::system_clock;

TEST(DeadlineAfter, IsRoundedUpAndNeverOverflows) {
  const auto before = steady::now();
  EXPECT_EQ(detail::deadline_after(std::chrono::hours::max()), steady::time_point::max());
  EXPECT_EQ(detail::deadline_after(std::chrono::duration<double>(1e300)), steady::time_point::max());
  EXPECT_LT(detail::deadline_after(1000h), steady::time_point::max());
  EXPECT_GE(detail::deadline_after(std::chrono::duration<double, std::nano>(0.5)), before + 1ns);
  const auto past = detail::deadline_after(std::chrono::hours::min());
  EXPECT_LE(past, steady::now());
}

TYPED_TEST(Deadline, OfFutures) {
  typename TypeParam::pool pool({.workers = 1});
  const auto look = [&] {
    promise<int> gate;
    auto late = gate.get_future();
    const auto begin = steady::now();
    EXPECT_EQ(late.wait_for(0s), std::future_status::timeout);
    EXPECT_EQ(late.wait_for(0.002s), std::future_status::timeout) << "a fraction of a second";
    EXPECT_EQ(late.wait_until(begin + 4ms), std::future_status::timeout);
    EXPECT_GE(steady::now(), begin + 4ms);
    EXPECT_EQ(late.wait_until(wall::now() + 1ms), std::future_status::timeout);
    EXPECT_EQ(late.wait_until(wall::now() - 1h), std::future_status::timeout);
    auto opens = pool.async("opens", [&] { gate.set_value(5); });
    EXPECT_EQ(late.wait_for(std::chrono::hours::max()), std::future_status::ready);
    EXPECT_EQ(late.wait_until(wall::now() + 1h), std::future_status::ready);
    auto shared = late.share();
    EXPECT_EQ(shared.wait_until(steady::now()), std::future_status::ready);
    opens.get();
  };
  look();
  pool.async("looks", look).get();
}

TYPED_TEST(Deadline, OfConditionVariables) {
  typename TypeParam::pool pool({.workers = 1});
  const auto look = [&] {
    typename TypeParam::mutex mutex;
    typename TypeParam::condition_variable changed;
    bool done = false;
    std::unique_lock lock(mutex);
    EXPECT_EQ(changed.wait_until(lock, wall::now() + 1ms), std::cv_status::timeout);
    EXPECT_FALSE(changed.wait_until(lock, steady::now() + 1ms, [&] { return done; }));
    EXPECT_TRUE(changed.wait_until(lock, steady::now() - 1ms, [] { return true; }));
    auto ends = pool.async("ends", [&] {
      std::lock_guard other(mutex);
      done = true;
      changed.notify_one();
    });
    EXPECT_TRUE(changed.wait_until(lock, wall::now() + 1h, [&] { return done; }));
    EXPECT_TRUE(lock.owns_lock());
    lock.unlock();
    ends.get();
  };
  look();
  pool.async("looks", look).get();
}

}  // namespace plaq::task
