// A program that adapts: a callback that reads counters from time to time and changes something.
#pragma once
#include <chrono>
#include <functional>
#include <thread>

namespace plaq::trace {

/// Calls decide() every `period` on a thread of its own, until it is destroyed; no call runs then. With or without
/// a session. decide() reads counters (read_counter) and sets what the program looks at, such as an atomic number
/// of chunks; it must not throw. What it changes must not change results: clocks differ from run to run. Policies
/// on single events are listeners (hooks.hpp).
class policy {
 public:
  policy(std::chrono::milliseconds period, std::function<void()> decide);

 private:
  std::jthread thread_;
};

}  // namespace plaq::trace
