// Seconds of wall time.
#pragma once
#include <chrono>

namespace plaq {

/// Clock that runs from its construction on.
class stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

}  // namespace plaq
