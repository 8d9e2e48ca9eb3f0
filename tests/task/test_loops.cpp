// parallel_for and parallel_reduce.
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct Loops : Conformance<B> {};
TYPED_TEST_SUITE(Loops, every_backend, backend_names);

using namespace std::chrono_literals;

namespace {
const std::vector<loop_options> every_way = {{.sharing = sharing::static_},
                                             {.sharing = sharing::static_, .chunk = 3},
                                             {.sharing = sharing::dynamic},
                                             {.sharing = sharing::dynamic, .chunk = 7},
                                             {.sharing = sharing::guided},
                                             {.sharing = sharing::guided, .chunk = 5},
                                             {.sharing = sharing::dynamic, .chunk = static_cast<std::size_t>(-1)}};

std::string written(const loop_options& how) {
  return std::to_string(static_cast<int>(how.sharing)) + "," + std::to_string(how.chunk);
}
}  // namespace

TYPED_TEST(Loops, TouchEachIndexOnce) {
  for (int workers : {1, 2, 5}) {
    typename TypeParam::pool pool({.workers = workers});
    for (const auto& how : every_way)
      for (long n : {0L, 1L, 2L, 63L, 1000L}) {
        std::vector<int> touched(static_cast<std::size_t>(n));
        parallel_for(pool, "touch", -5L, n - 5, [&](long i) { ++touched[static_cast<std::size_t>(i + 5)]; }, how);
        EXPECT_EQ(touched, std::vector<int>(static_cast<std::size_t>(n), 1)) << written(how);
      }
    parallel_for(pool, "none", 3, 2, [](int) { FAIL(); });
  }
}

TYPED_TEST(Loops, RangesOfAnyInteger) {
  typename TypeParam::pool pool({.workers = 2});
  std::atomic<int> sum{0};
  parallel_for(pool, "bytes", std::int8_t(-128), std::int8_t(127), [&](std::int8_t i) { sum += i; });
  EXPECT_EQ(sum, -128 - 127);
  sum = 0;
  const unsigned top = std::numeric_limits<unsigned>::max();
  parallel_for(pool, "top", top - 10, top, [&](unsigned i) { sum += static_cast<int>(top - i); });
  EXPECT_EQ(sum, 55);
  std::atomic<long> count{0};
  const auto lowest = std::numeric_limits<int>::min(), highest = std::numeric_limits<int>::max();
  std::stop_source source;
  const loop_options how{.sharing = sharing::dynamic, .chunk = 100, .stop = source.get_token()};
  EXPECT_THROW(parallel_for(
                   pool, "all", lowest, highest,
                   [&](int) {
                     if (++count == 1000) source.request_stop();
                   },
                   how),
               cancelled);
}

TYPED_TEST(Loops, StaticChunksGoRound) {
  typename TypeParam::pool pool({.workers = 2});
  std::vector<std::uint64_t> by(100);
  pool.async("caller",
             [&] {
               parallel_for(pool, "other", std::size_t{0}, by.size(), [&](std::size_t i) { by[i] = this_task::id(); },
                            {.sharing = sharing::static_, .chunk = 10});
             })
      .get();
  for (std::size_t i = 0; i < by.size(); ++i) EXPECT_EQ(by[i], by[i / 10 % 2 * 10]);
  EXPECT_NE(by[0], by[10]);
}

// Workers of this back end are kernel threads. All tasks of a loop are in progress at once here, so each runs on
// another.
TEST(StaticLoops, HaveTheirWorkersAgain) {
  const int workers = 3;
  fiber::pool pool({.workers = workers});
  std::vector<std::thread::id> before(workers);
  pool.async("caller",
             [&] {
               for (int call = 0; call < 200; ++call) {
                 std::vector<std::thread::id> by(workers);
                 std::atomic<int> here{0};
                 parallel_for(pool, "together", std::size_t{0}, by.size(),
                              [&](std::size_t i) {
                                by[i] = std::this_thread::get_id();
                                for (++here; here < workers;) std::this_thread::yield();
                              },
                              {.sharing = sharing::static_});
                 if (call) ASSERT_EQ(by, before) << call;
                 before = by;
               }
             })
      .get();
}

// A task that calls works too, so with one worker there is no other; outer and inner loops share the workers.
TYPED_TEST(Loops, Nest) {
  for (int workers : {1, 2, 64}) {
    typename TypeParam::pool pool({.workers = workers});
    for (const auto& how : every_way) {
      std::atomic<int> count{0};
      parallel_for(
          pool, "outer", 0, 10,
          [&](int) {
            parallel_for(pool, "middle", 0, 4,
                         [&](int) { parallel_for(pool, "inner", 0, 10, [&](int) { ++count; }, how); });
          },
          how);
      EXPECT_EQ(count, 400);
    }
  }
}

TYPED_TEST(Loops, BodiesMayWait) {
  typename TypeParam::pool pool({.workers = 1});
  channel<TypeParam, int> pipe(1);
  auto feeder = pool.async("feeder", [&] {
    pipe.close_after([&] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(pipe.push(i));
    });
  });
  std::atomic<int> sum{0};
  parallel_for(pool, "eater", 0, 20, [&](int) { sum += *pipe.pop(); });
  feeder.get();
  EXPECT_EQ(sum, 190);
}

// The same for every sharing and number of workers, although not all indices are run.
TYPED_TEST(Loops, ThrowTheErrorOfTheLowestIndex) {
  for (int workers : {1, 2, 64}) {
    typename TypeParam::pool pool({.workers = workers});
    for (const auto& how : every_way)
      for (int lowest : {0, 1, 37, 99}) {
        try {
          parallel_for(
              pool, "thrower", 0, 100,
              [&](int i) {
                if (i >= lowest && (i - lowest) % 3 == 0) throw i;
              },
              how);
          FAIL();
        } catch (int first) {
          EXPECT_EQ(first, lowest) << written(how);
        }
      }
  }
}

TYPED_TEST(Loops, StopBetweenPieces) {
  for (int workers : {1, 2}) {
    typename TypeParam::pool pool({.workers = workers});
    std::stop_source source;
    std::atomic<int> ran{0};
    const loop_options how{.sharing = sharing::dynamic, .stop = source.get_token()};
    EXPECT_THROW(parallel_for(
                     pool, "stopped", 0, 1'000'000'000,
                     [&](int i) {
                       ++ran;
                       if (i == 100) source.request_stop();
                     },
                     how),
                 cancelled);
    EXPECT_GE(ran, 101 - workers);
    EXPECT_THROW(parallel_for(pool, "stopped before", 0, 10, [&](int) { FAIL(); }, how), cancelled);
    EXPECT_THROW(parallel_reduce(pool, "sum", 0, 10, 0, std::plus{}, [](int i) { return i; }, how), cancelled);
  }
  // A token that is stopped when nothing is left to hand out changes nothing.
  typename TypeParam::pool pool({.workers = 1});
  std::stop_source source;
  parallel_for(pool, "last", 0, 10,
               [&](int i) {
                 if (i == 9) source.request_stop();
               },
               {.sharing = sharing::dynamic, .stop = source.get_token()});
}

TYPED_TEST(Loops, ReductionsAreTheSameBits) {
  const auto term = [](int i) { return std::sin(0.1 * i) * std::pow(10.0, i % 7); };
  for (int n : {1, 2, 255, 256, 257, 10'000}) {
    double expected = 0.25;
    const int pieces = std::min(n, 256);
    for (int p = 0; p < pieces; ++p) {
      double sum = term(static_cast<int>(std::int64_t(p) * n / pieces));
      for (int i = static_cast<int>(std::int64_t(p) * n / pieces) + 1; i < std::int64_t(p + 1) * n / pieces; ++i)
        sum += term(i);
      expected += sum;
    }
    for (int workers : {1, 2, 64}) {
      typename TypeParam::pool pool({.workers = workers});
      for (const auto& how : every_way)
        EXPECT_EQ(parallel_reduce(pool, "sum", 0, n, 0.25, std::plus{}, term, how), expected)
            << n << " " << written(how);
    }
  }
}

TYPED_TEST(Loops, ReductionsKeepTheOrder) {
  typename TypeParam::pool pool({.workers = 2});
  const auto letter = [](int i) { return std::string(1, static_cast<char>('a' + i % 26)); };
  std::string expected = ">";
  for (int i = 0; i < 1000; ++i) expected += letter(i);
  EXPECT_EQ(parallel_reduce(pool, "text", 0, 1000, std::string(">"), std::plus{}, letter), expected);
  EXPECT_EQ(parallel_reduce(pool, "nothing", 5, 5, 7, std::plus{}, [](int i) { return i; }), 7);
  EXPECT_EQ(
      parallel_reduce(
          pool, "largest", 0, 777, -1, [](int a, int b) { return std::max(a, b); }, [](int i) { return i * 31 % 778; }),
      777);
  EXPECT_THROW(parallel_reduce(pool, "thrower", 0, 100, 0, std::plus{}, [](int i) { return i < 50 ? i : throw i; }),
               int);
}

TYPED_TEST(Loops, FromAnotherPoolAndFromOutside) {
  typename TypeParam::pool pool({.workers = 2}), other({.workers = 2});
  std::atomic<int> outside{0};
  const auto body = [&](int) { outside += this_task::id() == 0; };
  parallel_for(pool, "loop", 0, 100, body);
  other.async("caller", [&] { parallel_for(pool, "loop", 0, 100, body); }).get();
  EXPECT_EQ(outside, 0) << "all that runs is a task";
}

}  // namespace plaq::task
