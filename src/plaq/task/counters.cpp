#include <algorithm>
#include <mutex>

#include "plaq/task/meter.hpp"

namespace plaq::task {

using clock = std::chrono::steady_clock;

namespace detail {

std::atomic<int> timing{0};

namespace {

std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now().time_since_epoch()).count());
}

std::mutex list_lock;
std::vector<registration*>& list() {
  static auto& all = *new std::vector<registration*>;  // outlives every pool
  return all;
}

std::vector<worker_counters>& ended() {
  static auto& sums = *new std::vector<worker_counters>;
  return sums;
}

std::atomic<std::uint64_t> last_pool{0};

}  // namespace

// Unsigned numbers may wrap in between.
void meter::start_clock() noexcept {
  busy_.store(busy_.load(std::memory_order_relaxed) - 2 * now_ns() + ticking, std::memory_order_relaxed);
}
void meter::stop_clock() noexcept {
  busy_.store(busy_.load(std::memory_order_relaxed) + 2 * now_ns() - ticking, std::memory_order_relaxed);
}

worker_counters meter::read() const noexcept {
  worker_counters seen;
  seen.switches = switches();
  seen.steals = steals_.load(std::memory_order_relaxed);
  std::uint64_t busy = busy_.load(std::memory_order_relaxed);
  if (busy & ticking) busy += 2 * now_ns() - ticking;
  seen.busy_ns = busy / 2;
  return seen;
}

registration::registration(counted_pool& pool, std::string_view backend)
    : pool_(pool), backend_(backend), number_(++last_pool), began_(clock::now()) {
  offer_to_trace();
  std::lock_guard lock(list_lock);
  list().push_back(this);
}

registration::~registration() {
  std::lock_guard lock(list_lock);
  std::erase(list(), this);
  pool_counters last;
  pool_.read(last);
  const auto first = static_cast<std::size_t>(last.first_worker);
  ended().resize(std::max(ended().size(), first + last.workers.size()));
  for (std::size_t w = 0; w < last.workers.size(); ++w) {
    ended()[first + w].switches += last.workers[w].switches;
    ended()[first + w].steals += last.workers[w].steals;
    ended()[first + w].busy_ns += last.workers[w].busy_ns;
  }
}

}  // namespace detail

void for_each_pool(const std::function<void(const pool_counters&)>& visit) {
  std::lock_guard lock(detail::list_lock);
  for (detail::registration* r : detail::list()) {
    pool_counters seen;
    seen.pool = r->number_;
    seen.backend = r->backend_;
    seen.age_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now() - r->began_).count());
    r->pool_.read(seen);
    visit(seen);
  }
}

std::vector<worker_counters> ended_pools() {
  std::lock_guard lock(detail::list_lock);
  return detail::ended();
}

timed_workers::timed_workers() noexcept { detail::timing.fetch_add(1); }
timed_workers::~timed_workers() { detail::timing.fetch_sub(1); }

int idle_rate(std::uint64_t busy_ns, std::uint64_t period_ns) noexcept {
  if (period_ns == 0) return 0;
  const double busy = static_cast<double>(std::min(busy_ns, period_ns)) / static_cast<double>(period_ns);
  return static_cast<int>(10000 * (1 - busy) + 0.5);
}

}  // namespace plaq::task
