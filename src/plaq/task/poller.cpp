#include "plaq/task/poller.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "plaq/base/pause.hpp"
#include "plaq/task/doorbell.hpp"
#include "plaq/task/waiter.hpp"

namespace plaq::task {

/// Pollers of this process. The thread that holds `turn` polls.
struct polling {
  static std::atomic<bool> turn;
  static poller* first;

  static bool try_turn() noexcept {
    return !turn.load(std::memory_order_relaxed) && !turn.exchange(true, std::memory_order_acquire);
  }
  static void wait_turn() noexcept {
    for (int round = 0; !try_turn();) detail::back_off(round);
  }
  static void leave() noexcept { turn.store(false, std::memory_order_release); }

  static void add(poller& p) noexcept {
    wait_turn();
    p.next_ = first;
    first = &p;
    leave();
  }
  static void remove(poller& p) noexcept {
    wait_turn();
    for (poller** at = &first; *at; at = &(*at)->next_)
      if (*at == &p) {
        *at = p.next_;
        break;
      }
    leave();
  }
  static bool poll_all() noexcept {
    bool any = false;
    for (poller* p = first; p; p = p->next_) any |= p->poll();
    return any;
  }
};

std::atomic<bool> polling::turn{false};
poller* polling::first = nullptr;

namespace {
std::mutex pools_lock;
std::vector<detail::wakeable*> pools;
std::atomic<std::size_t> pool_count{0};
}  // namespace

void poller::start_polling() noexcept { polling::add(*this); }
void poller::stop_polling() noexcept { polling::remove(*this); }

bool poller::expect(long more) noexcept { return detail::expected.fetch_add(more) == 0; }
void poller::delivered(long many) noexcept { detail::expected.fetch_sub(many); }

void poller::wake_pools() noexcept {
  std::lock_guard lock(pools_lock);
  for (detail::wakeable* pool : pools) pool->wake_idle();
}

namespace detail {

std::atomic<long> expected{0};

bool poll_once() noexcept {
  if (!anything_expected() || !polling::try_turn()) return false;
  job* const running = current();
  set_current(nullptr);  // events are no products of the task that happens to poll
  const bool any = polling::poll_all();
  set_current(running);
  polling::leave();
  return any;
}

bool any_pool() noexcept { return pool_count.load(std::memory_order_relaxed) > 0; }

bool pace::wait() noexcept {
  const bool expects = anything_expected();
  // Pauses: some 20 to 50 us in all, few since others may need the core to send the expected events, and none if
  // they are known to.
  const int watching = expects ? 100 : 1200;
  constexpr int giving_way = 250;  // some 0.1 ms of polls; where others take the core, microseconds
  const int pauses = expects ? 1 : 30;
  const bool shares = expects && doorbell::shares_cores();
  if (shares) rounds_ = std::max(rounds_, watching);
  if (rounds_ < watching) {
    rounds_ += pauses;
    for (int p = 0; p < pauses; ++p) pause_core();
    return true;
  }
  if (rounds_ > watching + giving_way || !expects) return false;
  const auto before = clock::now();
  if (!yield_core(shares)) return false;
  rounds_ += 1 + static_cast<int>((clock::now() - before) / std::chrono::microseconds(2));
  return true;
}

polling_pool::polling_pool(wakeable& pool) : pool_(pool) {
  std::lock_guard lock(pools_lock);
  pools.push_back(&pool_);
  pool_count = pools.size();
}
polling_pool::~polling_pool() {
  std::lock_guard lock(pools_lock);
  std::erase(pools, &pool_);
  pool_count = pools.size();
}

}  // namespace detail

}  // namespace plaq::task
