// Time of a call beside other work: short blocks of calls, of which some are not interrupted.
#pragma once
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <vector>

/// Seconds a call: the median of all threads' processor time, and the lowest tenth of the wall time.
struct block_times {
  double processor, wall;
};

inline double seconds_of(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Times blocks of calls, of a millisecond or one call each, until they have used so many seconds of processor time.
template <class F>
block_times time_blocks(F&& call, double seconds = 0.05) {
  const auto processor = [] { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); };
  const auto wall = [] { return seconds_of(CLOCK_MONOTONIC); };
  call();
  double once = 1;
  for (int i = 0; i < 5; ++i) {
    const double start = wall();
    call();
    once = std::min(once, wall() - start);
  }
  const int calls = std::max(1, int(1e-3 / once));
  std::vector<double> used, passed;
  for (const double begin = processor(); processor() - begin < seconds || used.size() < 20;) {
    const double cpu = processor(), start = wall();
    for (int i = 0; i < calls; ++i) call();
    passed.push_back((wall() - start) / calls);
    used.push_back((processor() - cpu) / calls);
  }
  std::sort(used.begin(), used.end());
  std::sort(passed.begin(), passed.end());
  return {used[used.size() / 2], passed[passed.size() / 10]};
}
