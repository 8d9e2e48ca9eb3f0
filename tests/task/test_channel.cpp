#include <atomic>
#include <memory>
#include <thread>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct Channel : Conformance<B> {};
TYPED_TEST_SUITE(Channel, every_backend, backend_names);

TYPED_TEST(Channel, KeepsTheOrder) {
  for (std::size_t capacity : {1u, 4u}) {
    for (int workers : {1, 2}) {
      typename TypeParam::pool pool({.workers = workers});
      channel<TypeParam, int> pipe(capacity);
      const int n = 5000 / less;
      auto producer = pool.async("producer", [&] {
        pipe.close_after([&] {
          for (int i = 0; i < n; ++i) EXPECT_TRUE(pipe.push(i));
        });
      });
      auto consumer = pool.async("consumer", [&] {
        int expected = 0;
        while (auto value = pipe.pop()) EXPECT_EQ(*value, expected++);
        return expected;
      });
      producer.get();
      EXPECT_EQ(consumer.get(), n);
    }
  }
}

TYPED_TEST(Channel, IsBounded) {
  typename TypeParam::pool pool({.workers = 2});
  channel<TypeParam, int> pipe(3);
  std::atomic<int> inside{0}, most{0};
  auto producer = pool.async("producer", [&] {
    pipe.close_after([&] {
      for (int i = 0; i < 2000 / less && pipe.push(i); ++i) {
        const int now = ++inside;
        if (now > most) most = now;
      }
    });
  });
  int taken = 0;
  while (pipe.pop()) --inside, ++taken;
  producer.get();
  EXPECT_EQ(taken, 2000 / less);
  EXPECT_LE(most, 4);  // three and the one that was pushed or popped but not yet counted
}

// Each producer and consumer keeps a task for itself; with one worker they all have to give way.
TYPED_TEST(Channel, EightProducersEightConsumers) {
  for (int workers : {1, 2, 64}) {
    typename TypeParam::pool pool({.workers = workers});
    channel<TypeParam, std::unique_ptr<long>> pipe(4);
    const long each = 1000 / less;
    std::vector<typename TypeParam::template future<void>> producers;
    std::vector<typename TypeParam::template future<long>> consumers;
    for (long p = 0; p < 8; ++p)
      producers.push_back(pool.async("producer", [&, p] {
        for (long i = 0; i < each; ++i) EXPECT_TRUE(pipe.push(std::make_unique<long>(p * each + i)));
      }));
    for (int c = 0; c < 8; ++c)
      consumers.push_back(pool.async("consumer", [&] {
        long sum = 0;
        while (auto value = pipe.pop()) sum += **value;
        return sum;
      }));
    for (auto& p : producers) p.get();
    pipe.close();
    long sum = 0;
    for (auto& c : consumers) sum += c.get();
    EXPECT_EQ(sum, 8 * each * (8 * each - 1) / 2) << workers;
  }
}

TYPED_TEST(Channel, PairsWithTheirOwnChannels) {
  for (int workers : {1, 2, 64}) {
    typename TypeParam::pool pool({.workers = workers});
    const int pairs = 64, each = 100;
    std::vector<std::unique_ptr<channel<TypeParam, int>>> pipes;
    std::vector<typename TypeParam::template future<int>> consumers;
    std::vector<typename TypeParam::template future<void>> producers;
    for (int p = 0; p < pairs; ++p) {
      auto& pipe = *pipes.emplace_back(std::make_unique<channel<TypeParam, int>>(2));
      producers.push_back(pool.async("walker", [&] {
        pipe.close_after([&] {
          for (int i = 0; i < each; ++i) EXPECT_TRUE(pipe.push(i));
        });
      }));
      consumers.push_back(pool.async("accumulator", [&] {
        int sum = 0;
        while (auto value = pipe.pop()) sum += *value;
        return sum;
      }));
    }
    for (auto& p : producers) p.get();
    for (auto& c : consumers) EXPECT_EQ(c.get(), each * (each - 1) / 2);
  }
}

TYPED_TEST(Channel, BetweenTasksAndOutside) {
  typename TypeParam::pool pool({.workers = 1});
  channel<TypeParam, int> there(1), back(1);
  auto echo = pool.async("echo", [&] {
    back.close_after([&] {
      while (auto value = there.pop()) EXPECT_TRUE(back.push(2 * *value));
    });
  });
  for (int i = 0; i < 500 / less; ++i) {
    EXPECT_TRUE(there.push(i));
    EXPECT_EQ(back.pop(), 2 * i);
  }
  there.close();
  EXPECT_EQ(back.pop(), std::nullopt);
  echo.get();
}

TYPED_TEST(Channel, ErrorOfTheProducerEndsTheConsumer) {
  typename TypeParam::pool pool({.workers = 1});
  channel<TypeParam, int> pipe(2);
  auto consumer = pool.async("consumer", [&] {
    pipe.close_after([&] {
      while (pipe.pop()) {
      }
    });
  });
  auto producer = pool.async("producer", [&] {
    pipe.close_after([&] {
      EXPECT_TRUE(pipe.push(1));
      throw runtime_failure("walker lost");
    });
  });
  EXPECT_THROW(producer.get(), runtime_failure);
  EXPECT_THROW(consumer.get(), runtime_failure);
}

TYPED_TEST(Channel, ErrorOfTheConsumerEndsTheProducer) {
  typename TypeParam::pool pool({.workers = 1});
  channel<TypeParam, int> pipe(2);
  auto producer = pool.async("producer", [&] {
    pipe.close_after([&] {
      for (int i = 0; pipe.push(i); ++i) {
      }
    });
  });
  auto consumer = pool.async("consumer", [&] {
    pipe.close_after([&] {
      EXPECT_EQ(pipe.pop(), 0);
      throw runtime_failure("disk full");
    });
  });
  EXPECT_THROW(consumer.get(), runtime_failure);
  EXPECT_THROW(producer.get(), runtime_failure);
}

TYPED_TEST(Channel, ConsumerThatHadEnoughEndsTheProducer) {
  typename TypeParam::pool pool({.workers = 1});
  channel<TypeParam, int> pipe(2);
  auto producer = pool.async("producer", [&] {
    int pushed = 0;
    while (pipe.push(pushed)) ++pushed;
    return pushed;
  });
  auto consumer = pool.async("consumer", [&] { pipe.close_after([&] { EXPECT_EQ(pipe.pop(), 0); }); });
  consumer.get();
  EXPECT_GE(producer.get(), 1);
}

// Two wait at one end; the first to be woken fails, and the other must not sleep on.
TYPED_TEST(Channel, ValueThatCannotBePushedLeavesItsPlaceToOthers) {
  typename TypeParam::pool pool({.workers = 1});
  channel<TypeParam, fragile> pipe(1);
  EXPECT_TRUE(pipe.push(fragile(9)));
  auto broken = pool.async("broken", [&] { return pipe.push(fragile(0)); });
  auto whole = pool.async("whole", [&] { return pipe.push(fragile(5)); });
  auto consumer = pool.async("consumer", [&] {
    EXPECT_EQ(pipe.pop()->left, 7);
    return pipe.pop()->left;
  });
  EXPECT_THROW(broken.get(), runtime_failure);
  EXPECT_TRUE(whole.get());
  EXPECT_EQ(consumer.get(), 3);
}

TYPED_TEST(Channel, ValueThatCannotBePoppedIsLostAndTheNextComes) {
  typename TypeParam::pool pool({.workers = 1});
  channel<TypeParam, fragile> pipe(2);
  EXPECT_TRUE(pipe.push(fragile(1)));
  EXPECT_TRUE(pipe.push(fragile(5)));
  auto waits = pool.async("waits", [&] { return pipe.push(fragile(9)); });
  auto first = pool.async("first", [&] { return pipe.pop()->left; });
  auto second = pool.async("second", [&] { return pipe.pop()->left; });
  EXPECT_THROW(first.get(), runtime_failure);
  EXPECT_EQ(second.get(), 3);
  EXPECT_TRUE(waits.get());
}

TYPED_TEST(Channel, CloseKeepsWhatIsInside) {
  channel<TypeParam, int> pipe(2);
  EXPECT_TRUE(pipe.push(1));
  pipe.close();
  pipe.close();
  EXPECT_FALSE(pipe.push(2));
  EXPECT_EQ(pipe.pop(), 1);
  EXPECT_EQ(pipe.pop(), std::nullopt);
  EXPECT_THROW((channel<TypeParam, int>(0)), input_error);
}

}  // namespace plaq::task
