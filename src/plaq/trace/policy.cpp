#include "plaq/trace/policy.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::trace {

policy::policy(std::chrono::milliseconds period, std::function<void()> decide) {
  if (period < std::chrono::milliseconds(1)) throw input_error("trace: the period of a policy must be 1 ms or longer");
  thread_ = std::jthread([period, decide = std::move(decide)](std::stop_token stop) {
    std::mutex lock;
    std::condition_variable_any until;
    std::unique_lock guard(lock);
    auto next = std::chrono::steady_clock::now() + period;
    while (!until.wait_until(guard, stop, next, [&] { return stop.stop_requested(); })) {
      decide();
      next = std::max(next + period, std::chrono::steady_clock::now());
    }
  });
}

}  // namespace plaq::trace
