// Loops of plaq within OpenMP programs, and OpenMP within tasks.
#include <omp.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct Openmp : Conformance<B> {};
TYPED_TEST_SUITE(Openmp, every_backend, backend_names);

TYPED_TEST(Openmp, EveryThreadOfARegionCallsLoops) {
  typename TypeParam::pool pool({.workers = 2});
  std::vector<double> sums(3);
  std::atomic<long> touched{0};
#pragma omp parallel num_threads(3)
  {
    const int thread = omp_get_thread_num();
    sums[static_cast<std::size_t>(thread)] =
        parallel_reduce(pool, "sum", 0, 1000, 0.0, std::plus{}, [&](int i) { return 0.1 * i; });
    parallel_for(pool, "touch", 0, 100, [&](int) { ++touched; });
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < 20; ++i) touched += pool.async("one", [] { return 1; }).get();
  }
  EXPECT_EQ(touched, 320);
  for (double sum : sums) EXPECT_EQ(sum, sums[0]);
  EXPECT_NEAR(sums[0], 49950, 1e-8);
}

TYPED_TEST(Openmp, RegionsWithinTasks) {
  typename TypeParam::pool pool({.workers = 2});
  std::vector<long> sums(16);
  parallel_for(pool, "rows", std::size_t{0}, sums.size(), [&](std::size_t row) {
    long sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 1000; ++i) sum += i;
    sums[row] = sum;
  });
  EXPECT_EQ(sums, std::vector<long>(16, 499500));
}

// The loop that a region in a task calls is of another pool: the threads of the region are outside of both.
TYPED_TEST(Openmp, NestedBothWays) {
  typename TypeParam::pool outer({.workers = 2}), inner({.workers = 2});
  std::atomic<long> count{0};
  parallel_for(outer, "outer", 0, 4, [&](int) {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 6; ++i) {
      // Thread 0 of the region is the worker, whose task must not leave it within the region.
      if (omp_get_thread_num() != 0)
        parallel_for(inner, "inner", 0, 10, [&](int) { ++count; });
      else
        count += 10;
    }
  });
  EXPECT_EQ(count, 240);
}

}  // namespace plaq::task
