// Program of OpenMP that knows nothing of plaq: see test_foreign.py.
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

long sum_up(long n) {
  volatile long sum = 0;
  for (long i = 0; i < n; ++i) sum = sum + i;
  return sum;
}

}  // namespace

int main() {
  std::vector<long> sums(8);
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel for schedule(dynamic) num_threads(2)
    for (int i = 0; i < 8; ++i) sums[std::size_t(i)] += sum_up(100000);
  }
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 8; ++i) {
#pragma omp task
    sums[std::size_t(i)] += sum_up(100000);
  }
  std::printf("%ld\n", std::accumulate(sums.begin(), sums.end(), 0L));
}
