// Policy: a callback that reads counters from time to time and adapts the program.
#pragma once
#include <chrono>
#include <functional>
#include <thread>

namespace plaq::trace {

/// Caller of decide() every `period` on a thread of its own, until it is destroyed; no call is in progress then. It
/// works with or without a session. decide() reads counters (read_counter) and sets variables of the program, such as
/// an atomic number of chunks; it must not throw. It must not change results, since clocks differ from run to run.
/// Policies on single events are listeners (hooks.hpp).
class policy {
 public:
  policy(std::chrono::milliseconds period, std::function<void()> decide);

 private:
  std::jthread thread_;
};

}  // namespace plaq::trace
