#include "plaq/batch/in_flight.hpp"

#include <algorithm>

namespace plaq::batch {

int in_flight_rule::decide(const load_sample& now) {
  const bool idle = now.idle > much_idle;
  crowded_ = !idle && now.ready > 0 ? crowded_ + 1 : 0;
  if (now.memory < scarce) {
    slots_ = std::max(1, std::min(slots_, now.in_progress - 1));
    crowded_ = 0;
  } else if (idle && now.waiting > 0 && now.in_progress >= slots_ && now.memory > enough) {
    needed_ = std::max(needed_, ++slots_);
  } else if (crowded_ >= crowded_samples && slots_ > needed_) {
    --slots_;
    crowded_ = 0;
  }
  return slots_;
}

namespace {

struct totals {
  std::uint64_t busy_ns = 0, ready = 0, workers = 0;
};

totals of_all_pools() {
  totals sum;
  task::for_each_pool([&](const task::pool_counters& pool) {
    sum.ready += pool.queued;
    for (const task::worker_counters& w : pool.workers) {
      sum.ready += w.queued;
      sum.busy_ns += w.busy_ns;
    }
    sum.workers += pool.workers.size();
  });
  return sum;
}

}  // namespace

pool_sampler::pool_sampler() : busy_ns_(of_all_pools().busy_ns), when_(std::chrono::steady_clock::now()) {}

void pool_sampler::sample(load_sample& into) {
  const totals now = of_all_pools();
  const auto then = std::chrono::steady_clock::now();
  const double passed = std::chrono::duration<double, std::nano>(then - when_).count() * double(now.workers);
  const double busy = double(std::int64_t(now.busy_ns - busy_ns_));
  into.idle = passed > 0 ? std::clamp(1 - busy / passed, 0., 1.) : 0;
  into.ready = now.ready;
  busy_ns_ = now.busy_ns;
  when_ = then;
}

}  // namespace plaq::batch
