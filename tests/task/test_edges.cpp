// What the words of tasks do at their edges: nothing to do, too much, twice, too late.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct Edges : Conformance<B> {};
TYPED_TEST_SUITE(Edges, every_backend, backend_names);

using namespace std::chrono_literals;

TYPED_TEST(Edges, APromiseThatIsAssignedToBreaksTheOneThatItWas) {
  using promise = typename TypeParam::template promise<int>;
  promise one, other;
  auto of_one = one.get_future(), of_other = other.get_future();
  one = std::move(other);
  ASSERT_TRUE(of_one.is_ready());
  EXPECT_THROW(of_one.get(), std::future_error);
  EXPECT_THROW((void)one.get_future(), std::future_error) << "it was asked for already";
  one.set_value(4);
  EXPECT_EQ(of_other.get(), 4);
  promise a, b;
  auto of_a = a.get_future();
  a.set_value(1);
  a.swap(b);
  EXPECT_THROW(b.set_value(2), std::future_error);
  a.set_value(3);
  EXPECT_EQ(a.get_future().get(), 3);
  EXPECT_EQ(of_a.get(), 1);
  promise moved(std::move(a));
  EXPECT_THROW((void)a.get_future(), std::future_error) << "there is nothing left in it";
}

TYPED_TEST(Edges, AnErrorIsKeptAsItWas) {
  typename TypeParam::template promise<void> p;
  auto f = p.get_future().share();
  p.set_exception(std::make_exception_ptr(std::string("as it was")));
  EXPECT_THROW(p.set_value(), std::future_error);
  EXPECT_THROW(p.set_exception(std::make_exception_ptr(1)), std::future_error);
  for (int i = 0; i < 2; ++i) try {
      f.get();
      FAIL();
    } catch (const std::string& e) {
      EXPECT_EQ(e, "as it was");
    }
}

TYPED_TEST(Edges, AFutureThatIsForgottenDoesNotWait) {
  std::atomic<bool> go{false}, ended{false};
  typename TypeParam::pool pool({.workers = 2});
  {
    auto forgotten = pool.async("long", [&] {
      while (!go) TypeParam::sleep_for(1ms);
      ended = true;
    });
    EXPECT_EQ(forgotten.wait_for(-1h), std::future_status::timeout);
    EXPECT_EQ(forgotten.wait_for(0s), std::future_status::timeout);
    auto other = pool.async("short", [] {});
    forgotten = std::move(other);
    forgotten.get();
  }
  EXPECT_FALSE(ended);
  go = true;
}

TYPED_TEST(Edges, AValueLivesAsLongAsASharedFutureForIt) {
  auto token = std::make_shared<int>(5);
  std::weak_ptr<int> watched = token;
  typename TypeParam::template shared_future<std::shared_ptr<int>> kept;
  {
    typename TypeParam::pool pool({.workers = 1});
    auto first = pool.async("producer", [token = std::move(token)] { return token; }).share();
    const auto second = first;
    kept = second;
    first = {};
  }
  ASSERT_FALSE(watched.expired());
  EXPECT_EQ(*kept.get(), 5);
  kept = {};
  EXPECT_TRUE(watched.expired());
}

TYPED_TEST(Edges, ALatchOfNothingIsOpen) {
  latch<TypeParam> open(0);
  EXPECT_TRUE(open.try_wait());
  open.wait();
  EXPECT_THROW(open.count_down(), runtime_failure);
  open.count_down(0);
  latch<TypeParam> one(3);
  EXPECT_THROW(one.count_down(4), runtime_failure);
  EXPECT_FALSE(one.try_wait()) << "one that was refused has not counted";
  one.count_down(3);
  one.wait();
}

TYPED_TEST(Edges, ABarrierOfOneDoesNotWait) {
  int phases = 0;
  auto count = [&]() noexcept { ++phases; };
  barrier<TypeParam, decltype(count)> alone(1, count);
  for (int i = 0; i < 5; ++i) alone.arrive_and_wait();
  EXPECT_EQ(phases, 5);
  EXPECT_THROW((void)alone.arrive(2), runtime_failure);
  EXPECT_EQ(phases, 5);
  alone.arrive_and_drop();
  EXPECT_EQ(phases, 6) << "leaving ends the phase for the others";
  EXPECT_THROW((void)alone.arrive(), runtime_failure) << "no arrival is expected any more";
  EXPECT_THROW(alone.arrive_and_drop(), runtime_failure);
}

TYPED_TEST(Edges, BarriersOfWhichMoreAndMoreLeave) {
  typename TypeParam::pool pool({.workers = 2});
  const int parties = 10;
  barrier<TypeParam> meeting(parties);
  std::atomic<int> phases{0};
  std::vector<typename TypeParam::template future<void>> all;
  for (int p = 0; p < parties; ++p)
    all.push_back(pool.async("party", [&, p] {
      for (int phase = 0; phase < p; ++phase) meeting.arrive_and_wait();
      if (p == parties - 1) phases = p;
      meeting.arrive_and_drop();
    }));
  for (auto& f : all) f.get();
  EXPECT_EQ(phases, parties - 1);
}

TYPED_TEST(Edges, ClosingWakesAllWhoWaitAtEitherEnd) {
  for (const bool with_error : {false, true}) {
    typename TypeParam::pool pool({.workers = 2});
    channel<TypeParam, int> empty(1), full(1);
    EXPECT_TRUE(full.push(1));
    std::vector<typename TypeParam::template future<int>> all;
    const auto ended = [](auto&& wait) {
      try {
        return wait() ? 2 : 0;
      } catch (const runtime_failure&) {
        return 1;
      }
    };
    for (int i = 0; i < 8; ++i) {
      all.push_back(pool.async("pops", [&] { return ended([&] { return empty.pop().has_value(); }); }));
      all.push_back(pool.async("pushes", [&] { return ended([&] { return full.push(2); }); }));
    }
    std::jthread outside([&] { EXPECT_EQ(ended([&] { return empty.pop().has_value(); }), int(with_error)); });
    TypeParam::sleep_for(2ms);
    if (with_error) {
      empty.close(std::make_exception_ptr(runtime_failure("lost")));
      full.close(std::make_exception_ptr(runtime_failure("lost")));
    } else {
      empty.close();
      full.close();
    }
    for (auto& f : all) EXPECT_EQ(f.get(), int(with_error));
  }
}

TYPED_TEST(Edges, TheFirstErrorOfAChannelStaysAndWhatWasInsideIsGone) {
  channel<TypeParam, std::shared_ptr<int>> pipe(3);
  auto token = std::make_shared<int>(0);
  EXPECT_TRUE(pipe.push(token));
  EXPECT_TRUE(pipe.push(token));
  EXPECT_EQ(token.use_count(), 3);
  pipe.close(std::make_exception_ptr(1));
  EXPECT_EQ(token.use_count(), 1);
  pipe.close(std::make_exception_ptr(2L));
  pipe.close();
  EXPECT_THROW((void)pipe.pop(), int);
  EXPECT_THROW((void)pipe.push(token), int);
  EXPECT_EQ(token.use_count(), 1);
  channel<TypeParam, std::shared_ptr<int>> late(3);
  EXPECT_TRUE(late.push(token));
  late.close();
  late.close(std::make_exception_ptr(3));
  EXPECT_THROW((void)late.pop(), int) << "an error counts also after the end";
}

TYPED_TEST(Edges, ClosingAfterGivesWhatTheWorkGives) {
  channel<TypeParam, int> pipe(1), other(1);
  EXPECT_EQ(pipe.close_after([&] { return pipe.push(1) ? 7 : 0; }), 7);
  EXPECT_EQ(pipe.pop(), 1);
  EXPECT_EQ(pipe.pop(), std::nullopt);
  int x = 0;
  int& same = other.close_after([&]() -> int& { return x; });
  EXPECT_EQ(&same, &x);
}

TYPED_TEST(Edges, DeadlinesThatHavePassed) {
  typename TypeParam::pool pool({.workers = 1});
  const auto look = [] {
    typename TypeParam::mutex lock;
    typename TypeParam::condition_variable changed;
    std::unique_lock guard(lock);
    EXPECT_EQ(changed.wait_until(guard, std::chrono::steady_clock::now() - 1h), std::cv_status::timeout);
    EXPECT_FALSE(changed.wait_for(guard, -1h, [] { return false; }));
    EXPECT_TRUE(changed.wait_for(guard, -1h, [] { return true; })) << "what is asked for comes first";
    EXPECT_TRUE(guard.owns_lock());
    this_task::sleep_until(std::chrono::steady_clock::now() - 1h);
    this_task::sleep_for(-1h);
    TypeParam::sleep_for(0s);
  };
  look();
  pool.async("looks", look).get();
}

TYPED_TEST(Edges, NotifyingNobodyIsForgotten) {
  typename TypeParam::pool pool({.workers = 1});
  typename TypeParam::mutex lock;
  typename TypeParam::condition_variable changed;
  changed.notify_one();
  changed.notify_all();
  auto late = pool.async("late", [&] {
    std::unique_lock guard(lock);
    return changed.wait_for(guard, 2ms);
  });
  EXPECT_EQ(late.get(), std::cv_status::timeout);
}

TYPED_TEST(Edges, OneNotificationWakesOne) {
  typename TypeParam::pool pool({.workers = 2});
  typename TypeParam::mutex lock;
  typename TypeParam::condition_variable changed;
  int tokens = 0, waiting = 0;
  std::vector<typename TypeParam::template future<void>> all;
  for (int i = 0; i < 10; ++i)
    all.push_back(pool.async("takes one", [&] {
      std::unique_lock guard(lock);
      ++waiting;
      changed.wait(guard, [&] { return tokens > 0; });
      --tokens;
    }));
  for (bool on_ready = false; !on_ready;) {
    std::lock_guard guard(lock);
    on_ready = waiting == 10;
  }
  for (int i = 0; i < 10; ++i) {
    std::lock_guard guard(lock);
    ++tokens;
    changed.notify_one();  // as many as there are: none of them may be lost
  }
  for (auto& f : all) f.get();
  EXPECT_EQ(tokens, 0);
}

TYPED_TEST(Edges, OutsideOfTasksThereIsNone) {
  EXPECT_EQ(this_task::id(), 0u);
  this_task::yield();
  typename TypeParam::pool pool({.workers = 1});
  const auto one = pool.async("one", [] { return this_task::id(); }).get();
  const auto other = pool.async("other",
                                [] {
                                  const auto before = this_task::id();
                                  this_task::yield();
                                  return before == this_task::id() ? before : 0;
                                })
                         .get();
  EXPECT_NE(one, 0u);
  EXPECT_GT(other, one) << "ids are given in order";
  EXPECT_EQ(this_task::id(), 0u);
}

TYPED_TEST(Edges, WhenAnyOfOneThatIsThereAlready) {
  typename TypeParam::pool pool({.workers = 1});
  typename TypeParam::template promise<int> p, never;
  auto ready = p.get_future();
  p.set_value(3);
  auto [index, futures] = when_any(never.get_future(), std::move(ready)).get();
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(std::get<1>(futures).get(), 3);
  EXPECT_FALSE(std::get<0>(futures).is_ready());
  typename TypeParam::template future<int> none;
  EXPECT_THROW((void)when_any(std::move(none)), std::future_error);
}

// The result of a race may be dropped before it is decided.
TYPED_TEST(Edges, RacesThatNobodyWatches) {
  typename TypeParam::pool pool({.workers = 2});
  for (int round = 0; round < 200 / less; ++round) {
    std::vector<typename TypeParam::template promise<std::shared_ptr<int>>> runners(4);
    auto token = std::make_shared<int>(round);
    {
      std::vector<typename TypeParam::template future<std::shared_ptr<int>>> race;
      for (auto& r : runners) race.push_back(r.get_future());
      auto first = when_any(std::move(race));
      if (round % 2) first = {};
      std::vector<typename TypeParam::template future<void>> setters;
      for (auto& r : runners) setters.push_back(pool.async("runs", [&r, token] { r.set_value(token); }));
      for (auto& s : setters) s.get();
    }
    runners.clear();
    EXPECT_EQ(token.use_count(), 1);
  }
}

TYPED_TEST(Edges, ReductionsThatThrowOrAreStopped) {
  typename TypeParam::pool pool({.workers = 2});
  const auto add = [](std::string a, const std::string& b) { return a + b; };
  const auto letter = [](int i) { return std::string(1, char('a' + i)); };
  EXPECT_EQ(parallel_reduce(pool, "word", 0, 26, std::string("="), add, letter), "=abcdefghijklmnopqrstuvwxyz")
      << "combine need not commute";
  EXPECT_EQ(parallel_reduce(pool, "none", 5, 5, std::string("="), add, letter), "=");
  EXPECT_EQ(parallel_reduce(pool, "less than none", 5, -5, std::string("="), add, letter), "=");
  for (const int bad : {0, 13, 299}) {
    try {
      parallel_reduce(pool, "throws", 0, 300, 0, std::plus{}, [&](int i) { return i >= bad ? throw i : i; });
      FAIL();
    } catch (int first) {
      EXPECT_EQ(first, bad) << "the lowest";
    }
  }
  EXPECT_THROW(
      parallel_reduce(
          pool, "combine throws", 0, 600, 0, [](int, int) -> int { throw input_error("no"); }, [](int i) { return i; }),
      input_error);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_THROW(
      parallel_reduce(pool, "stopped", 0, 300, 0, std::plus{}, [](int i) { return i; }, {.stop = stopped.get_token()}),
      cancelled);
}

// Sums of numbers whose rounding depends on the order: as documented, for any sharing.
TYPED_TEST(Edges, ReductionsCutAsTheyPromise) {
  const auto term = [](long i) { return (i % 2 ? -1.0 : 1.0) / (1 + i % 1009) * (i % 7 ? 1 : 1e15); };
  for (const long n : {1L, 2L, 255L, 256L, 257L, 511L, 1000L, 5000L}) {
    double expected = 0.25;
    const long pieces = std::min(n, 256L);
    for (long p = 0; p < pieces; ++p) {
      double sum = term(p * n / pieces);
      for (long i = p * n / pieces + 1; i < (p + 1) * n / pieces; ++i) sum += term(i);
      expected += sum;
    }
    for (int workers : {1, 3}) {
      typename TypeParam::pool pool({.workers = workers});
      for (const auto how : {sharing::static_, sharing::dynamic, sharing::guided})
        for (const std::size_t chunk : {0, 1, 40, 100000})
          EXPECT_EQ(parallel_reduce(pool, "sum", 0L, n, 0.25, std::plus{}, term, {.sharing = how, .chunk = chunk}),
                    expected)
              << n;
    }
  }
}

}  // namespace plaq::task
