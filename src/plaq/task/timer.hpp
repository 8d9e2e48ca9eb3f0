// Timer that wakes waiters at their deadline. Its thread starts with the first one.
#pragma once
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "plaq/task/gate.hpp"

namespace plaq::task::detail {

class waiter;

class timer {
 public:
  timer() = default;
  timer(const timer&) = delete;
  void add(clock::time_point deadline, waiter& sleeper);
  /// Removes a waiter; on return the timer does not use it any more.
  void remove(clock::time_point deadline, waiter& sleeper);

 private:
  void watch(std::stop_token stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<std::pair<clock::time_point, waiter*>> waiting_;
  std::jthread thread_;
};

}  // namespace plaq::task::detail
