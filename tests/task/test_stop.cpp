// Waits and tasks that end when a std::stop_token is stopped.
#include <atomic>
#include <thread>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct Stop : Conformance<B> {};
TYPED_TEST_SUITE(Stop, every_backend, backend_names);

using namespace std::chrono_literals;

TYPED_TEST(Stop, FutureWait) {
  typename TypeParam::pool pool({.workers = 1});
  typename TypeParam::template promise<int> promise;
  auto future = promise.get_future();
  std::stop_source source;
  auto waiter = pool.async("waiter", [&] { return future.wait(source.get_token()); });
  pool.async("stopper", [&] { source.request_stop(); }).get();
  EXPECT_FALSE(waiter.get());
  EXPECT_FALSE(future.wait(source.get_token())) << "stopped already; and from outside";
  promise.set_value(3);
  EXPECT_TRUE(future.wait(source.get_token())) << "the result is what counts";
  EXPECT_EQ(future.get(), 3);
}

// The stop and the value come at about the same time, in either order.
TYPED_TEST(Stop, RacesWithTheValue) {
  typename TypeParam::pool pool({.workers = 2});
  for (int i = 0; i < 2000 / less; ++i) {
    typename TypeParam::template promise<int> promise;
    auto future = promise.get_future();
    std::stop_source source;
    auto waiter = pool.async("waiter", [&] {
      const bool there = future.wait(source.get_token());
      return future.get() + (there ? 0 : 1000);
    });
    auto giver = pool.async("giver", [&] { promise.set_value(i % 100); });
    source.request_stop();
    EXPECT_EQ(waiter.get() % 1000, i % 100);
    giver.get();
  }
}

TYPED_TEST(Stop, ConditionVariable) {
  typename TypeParam::pool pool({.workers = 1});
  typename TypeParam::mutex mutex;
  typename TypeParam::condition_variable changed;
  bool go = false;
  std::stop_source source;
  auto wait = [&] {
    std::unique_lock lock(mutex);
    const bool result = changed.wait(lock, source.get_token(), [&] { return go; });
    EXPECT_TRUE(lock.owns_lock());
    return result;
  };
  auto stopped = pool.async("waiter", wait), other = pool.async("waiter", wait);
  pool.async("stopper", [&] { source.request_stop(); }).get();
  EXPECT_FALSE(stopped.get());
  EXPECT_FALSE(other.get());
  EXPECT_FALSE(wait());
  go = true;
  EXPECT_TRUE(wait());
  source = std::stop_source();
  go = false;
  auto notified = pool.async("waiter", wait);
  pool.async("notifier",
             [&] {
               std::lock_guard lock(mutex);
               go = true;
               changed.notify_one();
             })
      .get();
  EXPECT_TRUE(notified.get());
}

TYPED_TEST(Stop, ChannelEnds) {
  typename TypeParam::pool pool({.workers = 1});
  channel<TypeParam, int> pipe(1);
  std::stop_source source;
  auto consumer = pool.async("consumer", [&] { return pipe.pop(source.get_token()); });
  pool.async("stopper", [&] { source.request_stop(); }).get();
  EXPECT_THROW(consumer.get(), cancelled);
  EXPECT_TRUE(pipe.push(1, source.get_token())) << "nothing to wait for";
  EXPECT_THROW((void)pipe.push(2, source.get_token()), cancelled);
  EXPECT_EQ(pipe.pop(source.get_token()), 1);
  EXPECT_THROW((void)pipe.pop(source.get_token()), cancelled);
  pipe.close();
  EXPECT_EQ(pipe.pop(source.get_token()), std::nullopt) << "closed differs from stopped";
  EXPECT_FALSE(pipe.push(3, source.get_token()));
}

// No value is lost or doubled by stopped tasks.
TYPED_TEST(Stop, ChannelLosesNothing) {
  typename TypeParam::pool pool({.workers = 2});
  for (int round = 0; round < 100 / less; ++round) {
    channel<TypeParam, int> pipe(2);
    std::stop_source source;
    std::vector<typename TypeParam::template future<long>> consumers;
    for (int c = 0; c < 4; ++c)
      consumers.push_back(pool.async("consumer", [&, c] {
        long sum = 0;
        try {
          while (auto value = pipe.pop(c ? source.get_token() : std::stop_token())) sum += *value;
        } catch (const cancelled&) {
        }
        return sum;
      }));
    auto producer = pool.async("producer", [&] {
      pipe.close_after([&] {
        for (int i = 1; i <= 100; ++i) {
          EXPECT_TRUE(pipe.push(i));
          if (i == 50) source.request_stop();
        }
      });
    });
    producer.get();
    long sum = 0;
    for (auto& c : consumers) sum += c.get();
    EXPECT_EQ(sum, 5050);
  }
}

TYPED_TEST(Stop, TasksThatDidNotStart) {
  typename TypeParam::pool pool({.workers = 1});
  std::stop_source source;
  std::atomic<bool> go{false}, ran{false};
  auto holder = pool.async("holder", [&] {
    while (!go) std::this_thread::sleep_for(1ms);
  });
  auto pending = pool.async("pending", source.get_token(), [&] { return ran = true, 1; });
  source.request_stop();
  go = true;
  EXPECT_THROW(pending.get(), cancelled);
  EXPECT_FALSE(ran);
  holder.get();
  std::stop_source other;
  EXPECT_EQ(pool.async("runs", other.get_token(), [] { return 2; }).get(), 2);
}

TYPED_TEST(Stop, OneTokenEndsAWholeGraph) {
  typename TypeParam::pool pool({.workers = 2});
  std::stop_source source;
  channel<TypeParam, int> never(1);
  auto first = pool.async("first", source.get_token(), [&] { return *never.pop(source.get_token()); });
  auto second = dataflow(pool, "second", [](int x) { return x + 1; }, std::move(first));
  auto third = second.then(pool, "third", [](auto ready) { return ready.get() + 1; });
  source.request_stop();
  EXPECT_THROW(third.get(), cancelled);
}

}  // namespace plaq::task
