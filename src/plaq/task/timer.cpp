#include "plaq/task/timer.hpp"

#include "plaq/task/waiter.hpp"

namespace plaq::task::detail {

void timer::add(clock::time_point deadline, waiter& sleeper) {
  std::lock_guard lock(mutex_);
  const auto entry = waiting_.emplace(deadline, &sleeper).first;
  if (!thread_.joinable())
    thread_ = std::jthread([this](std::stop_token stop) { watch(stop); });
  else if (entry == waiting_.begin())
    changed_.notify_one();
}

void timer::remove(clock::time_point deadline, waiter& sleeper) {
  std::lock_guard lock(mutex_);
  waiting_.erase({deadline, &sleeper});
}

void timer::watch(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (waiting_.empty()) {
      changed_.wait(lock, stop, [&] { return !waiting_.empty(); });
      continue;
    }
    const auto [deadline, sleeper] = *waiting_.begin();
    if (clock::now() >= deadline) {
      waiting_.erase(waiting_.begin());
      sleeper->wake();
    } else {
      changed_.wait_until(lock, stop, deadline, [&] { return waiting_.empty() || waiting_.begin()->first < deadline; });
    }
  }
}

}  // namespace plaq::task::detail
