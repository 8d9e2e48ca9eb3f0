// Elements that sleep as long as they would compute, so that a few cores stand for many ranks.
#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

namespace plaq::bench {

/// A core that is busy, where ranks have one worker: who wakes too late sleeps less the next time, so that late
/// wakings do not add up.
inline void be_busy(double seconds) {
  using namespace std::chrono;
  static steady_clock::time_point until = steady_clock::now();
  until = std::max(until, steady_clock::now() - microseconds(500)) +
          duration_cast<steady_clock::duration>(duration<double>(seconds));
  std::this_thread::sleep_until(until);
}

}  // namespace plaq::bench
