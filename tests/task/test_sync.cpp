#include <atomic>
#include <thread>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct Sync : Conformance<B> {};
TYPED_TEST_SUITE(Sync, every_backend, backend_names);

using namespace std::chrono_literals;

TYPED_TEST(Sync, MutexExcludes) {
  for (int workers : {1, 2, 16}) {
    typename TypeParam::pool pool({.workers = workers});
    typename TypeParam::mutex mutex;
    long count = 0;  // not atomic: the mutex is what makes it right
    const int tasks = 20, rounds = 2000 / less;
    std::vector<typename TypeParam::template future<void>> all;
    for (int t = 0; t < tasks; ++t)
      all.push_back(pool.async("locker", [&, t] {
        for (int i = 0; i < rounds; ++i) {
          std::lock_guard lock(mutex);
          ++count;
          if ((i + t) % 50 == 0) TypeParam::yield();  // others find it locked
        }
      }));
    for (auto& f : all) f.get();
    EXPECT_EQ(count, tasks * rounds);
  }
}

TYPED_TEST(Sync, MutexBetweenTasksAndThreads) {
  typename TypeParam::pool pool({.workers = 2});
  typename TypeParam::mutex mutex;
  long count = 0;
  const int rounds = 2000 / less;
  auto work = [&] {
    for (int i = 0; i < rounds; ++i) {
      std::lock_guard lock(mutex);
      ++count;
      if (i % 100 == 0) TypeParam::yield();
    }
  };
  auto a = pool.async("task", work), b = pool.async("task", work);
  { std::jthread outside(work), other(work); }
  a.get(), b.get();
  EXPECT_EQ(count, 4 * rounds);
}

TYPED_TEST(Sync, TryLock) {
  typename TypeParam::mutex mutex;
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

// The last owner may destroy the mutex although the previous one is still inside unlock().
TYPED_TEST(Sync, MutexMayGoOnceNobodyHoldsIt) {
  typename TypeParam::pool pool({.workers = 2});
  for (int i = 0; i < 5000 / less; ++i) {
    auto mutex = std::make_unique<typename TypeParam::mutex>();
    auto& lock = *mutex;
    std::atomic<bool> locked{false};
    auto other = pool.async("first", [&] {
      lock.lock();
      locked = true;
      TypeParam::yield();
      lock.unlock();
    });
    auto last = pool.async("last", [&] {
      while (!locked) TypeParam::yield();
      lock.lock();
      lock.unlock();
      mutex.reset();
    });
    last.get();
    other.get();
  }
}

TYPED_TEST(Sync, ConditionVariablePingPong) {
  for (int workers : {1, 2}) {
    typename TypeParam::pool pool({.workers = workers});
    typename TypeParam::mutex mutex;
    typename TypeParam::condition_variable changed;
    int turn = 0;
    const int rounds = 5000 / less;
    auto player = [&](int own) {
      return pool.async("player", [&, own] {
        for (int i = 0; i < rounds; ++i) {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return turn % 2 == own; });
          ++turn;
          changed.notify_one();
        }
      });
    };
    auto ping = player(0), pong = player(1);
    ping.get(), pong.get();
    EXPECT_EQ(turn, 2 * rounds);
  }
}

TYPED_TEST(Sync, NotifyAllReachesTasksAndThreads) {
  typename TypeParam::pool pool({.workers = 1});
  typename TypeParam::mutex mutex;
  typename TypeParam::condition_variable changed;
  bool go = false;
  int woken = 0;
  auto wait = [&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return go; });
    ++woken;
  };
  std::vector<typename TypeParam::template future<void>> all;
  for (int i = 0; i < 20; ++i) all.push_back(pool.async("waiter", wait));
  {
    std::jthread outside(wait);
    std::this_thread::sleep_for(5ms);
    std::lock_guard lock(mutex);
    go = true;
    changed.notify_all();
  }
  for (auto& f : all) f.get();
  EXPECT_EQ(woken, 21);
}

TYPED_TEST(Sync, ConditionVariableTimesOut) {
  typename TypeParam::pool pool({.workers = 1});
  typename TypeParam::mutex mutex;
  typename TypeParam::condition_variable changed;
  bool go = false;
  latch<TypeParam> timed_out(2);
  auto wait = [&] {
    std::unique_lock lock(mutex);
    EXPECT_EQ(changed.wait_for(lock, 1ms), std::cv_status::timeout);
    EXPECT_FALSE(changed.wait_for(lock, 1ms, [&] { return go; }));
    timed_out.count_down();
    return changed.wait_for(lock, 1h, [&] { return go; });
  };
  auto inside = pool.async("waiter", wait);
  auto setter = pool.async("setter", [&] {
    timed_out.wait();
    std::lock_guard lock(mutex);
    go = true;
    changed.notify_all();
  });
  EXPECT_TRUE(wait());
  EXPECT_TRUE(inside.get());
  setter.get();
}

TYPED_TEST(Sync, SleepGivesTheWorkerAway) {
  typename TypeParam::pool pool({.workers = 1});
  std::atomic<bool> other_ran{false};
  auto sleeper = pool.async("sleeper", [&] {
    const auto before = std::chrono::steady_clock::now();
    while (!other_ran) TypeParam::sleep_for(2ms);
    return std::chrono::steady_clock::now() - before;
  });
  auto other = pool.async("other", [&] { other_ran = true; });
  EXPECT_GE(sleeper.get(), 2ms);
  other.get();
}

TYPED_TEST(Sync, LatchOpensAtZero) {
  typename TypeParam::pool pool({.workers = 2});
  for (int round = 0; round < 500 / less; ++round) {
    std::atomic<int> arrived{0};
    auto gate = std::make_unique<latch<TypeParam>>(10);
    std::vector<typename TypeParam::template future<void>> all;
    for (int i = 0; i < 10; ++i)
      all.push_back(pool.async("arrival", [&] {
        ++arrived;
        gate->count_down();
      }));
    gate->wait();
    EXPECT_EQ(arrived, 10);
    gate.reset();  // the last count_down() may still be on its way out
    for (auto& f : all) f.get();
  }
}

TYPED_TEST(Sync, LatchAsMeetingPoint) {
  typename TypeParam::pool pool({.workers = 1});
  latch<TypeParam> meeting(20);
  std::vector<typename TypeParam::template future<bool>> all;
  for (int i = 0; i < 20; ++i)
    all.push_back(pool.async("party", [&] {
      meeting.arrive_and_wait();
      return meeting.try_wait();
    }));
  for (auto& f : all) EXPECT_TRUE(f.get());
  EXPECT_THROW(meeting.count_down(), runtime_failure);
}

TYPED_TEST(Sync, BarrierSeparatesPhases) {
  for (int workers : {1, 2, 64}) {
    typename TypeParam::pool pool({.workers = workers});
    const int parties = 8, phases = 200 / less;
    std::vector<std::atomic<int>> arrived(static_cast<std::size_t>(phases));
    int completed = 0;  // not atomic: the barrier is what makes it right
    auto complete = [&]() noexcept { ++completed; };
    barrier<TypeParam, decltype(complete)> meeting(parties, complete);
    std::vector<typename TypeParam::template future<void>> all;
    for (int p = 0; p < parties; ++p)
      all.push_back(pool.async("party", [&] {
        for (int phase = 0; phase < phases; ++phase) {
          ++arrived[static_cast<std::size_t>(phase)];
          meeting.arrive_and_wait();
          EXPECT_EQ(arrived[static_cast<std::size_t>(phase)], parties);
          EXPECT_EQ(completed, phase + 1);
        }
      }));
    for (auto& f : all) f.get();
  }
}

TYPED_TEST(Sync, BarrierIsLeftAndArrivedAtApartFromWaiting) {
  typename TypeParam::pool pool({.workers = 1});
  barrier<TypeParam> meeting(3);
  const auto token = meeting.arrive(2);
  auto last = pool.async("last", [&] { meeting.arrive_and_drop(); });
  meeting.wait(token);
  last.get();
  const auto second = meeting.arrive(2);  // one less is expected now
  meeting.wait(second);
  meeting.wait(token);
  EXPECT_THROW((void)meeting.arrive(3), runtime_failure);
}

}  // namespace plaq::task
