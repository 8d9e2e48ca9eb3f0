#include "plaq/task/doorbell.hpp"

#include <algorithm>
#include <climits>
#include <thread>

#include "plaq/base/pause.hpp"
#include "plaq/task/poller.hpp"
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

namespace plaq::task::detail {

namespace doorbell {

namespace {

std::atomic<place*> own{nullptr};
std::atomic<bool> estimate{false};

#if defined(__linux__)
static_assert(sizeof(state) == 4 && state::is_always_lock_free);

/// Sleeps while the bell has this value.
void sleep_at(state& bell, std::uint32_t value, std::chrono::nanoseconds most) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(most);
  const timespec time{seconds.count(), (most - seconds).count()};
  syscall(SYS_futex, &bell, FUTEX_WAIT, value, &time, nullptr, 0);
}
void wake_all(state& bell) noexcept { syscall(SYS_futex, &bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }
#else
void sleep_at(state&, std::uint32_t, std::chrono::nanoseconds most) noexcept { std::this_thread::sleep_for(most); }
void wake_all(state&) noexcept {}
#endif

}  // namespace

void use(place* mine) noexcept { own.store(mine, std::memory_order_release); }
bool in_use() noexcept { return own.load(std::memory_order_relaxed) != nullptr; }
void expect_sharing(bool shares) noexcept { estimate.store(shares); }

bool shares_cores() noexcept {
  const place* const mine = own.load(std::memory_order_acquire);
  const std::uint32_t told = mine ? mine->shares.load(std::memory_order_relaxed) : 0;
  return told ? told == 2 : estimate.load(std::memory_order_relaxed);
}

std::uint32_t arm() noexcept {
  place* const mine = own.load(std::memory_order_acquire);
  return mine ? mine->bell.fetch_or(1) | 1 : 0;
}

bool is_armed() noexcept {
  const place* const mine = own.load(std::memory_order_acquire);
  return mine && mine->bell.load(std::memory_order_relaxed) & 1;
}

bool sleep(std::uint32_t armed, std::chrono::microseconds most) noexcept {
  place* const mine = own.load(std::memory_order_acquire);
  if (!mine) {
    std::this_thread::sleep_for(most);
    return false;
  }
  sleep_at(mine->bell, armed, most);
  return mine->bell.load() != armed;
}

bool wait_at(gate& closed, std::uint32_t armed, clock::time_point deadline) noexcept {
  place* const mine = own.load(std::memory_order_acquire);
  if (!mine) return closed.wait_until(deadline);
  if (closed.try_wait()) return true;
  const auto now = clock::now();
  if (now < deadline) sleep_at(mine->bell, armed, deadline - now);
  return closed.try_wait();
}

void open(gate& closed) noexcept {
  place* const mine = own.load(std::memory_order_acquire);
  closed.open();
  if (mine) ring(mine->bell, true);
}

void wake(state& bell) noexcept {
  std::uint32_t before = bell.load();
  while (before & 1)
    if (bell.compare_exchange_weak(before, (before | 1) + 1)) return wake_all(bell);
}

}  // namespace doorbell

bool yield_core(bool shares) noexcept {
  using namespace std::chrono_literals;
  constexpr std::chrono::nanoseconds alone = 1us, slow = 200us, shortest_pause = 10ms, longest_pause = 640ms;
  constexpr int most_alone = 20, most_quick = 16;
  static std::atomic<int> alone_in_turn{0}, quick_in_turn{0};
  static std::atomic<std::chrono::nanoseconds> pause{shortest_pause};
  static std::atomic<clock::time_point> again{clock::time_point::min()};
  const auto before = clock::now();
  if (before < again.load(std::memory_order_relaxed)) return false;
  std::this_thread::yield();
  const auto now = clock::now();
  if (now - before < alone) {
    const int count = std::min(alone_in_turn.load(std::memory_order_relaxed) + 1, most_alone);
    alone_in_turn.store(count, std::memory_order_relaxed);
    return !shares || count < most_alone;
  }
  alone_in_turn.store(0, std::memory_order_relaxed);
  if (now - before < slow) {
    quick_in_turn.store(quick_in_turn.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  } else if (quick_in_turn.exchange(0) > most_quick) {  // the end of a time slice, not the price of a yield
    pause = shortest_pause;
  } else {
    again = now + pause.load();
    pause = std::min(2 * pause.load(), longest_pause);
  }
  return true;
}

bool message_pace::watch() noexcept {
  using namespace std::chrono_literals;
  constexpr int polls_per_look = 16;  // at the clock
  const bool shares = doorbell::shares_cores();
  if (!shares && spins_ && ++polls_ % polls_per_look != 0) return true;
  const auto now = clock::now();
  if (since_ == clock::time_point{}) since_ = now;
  if (!shares && now - since_ < 20us) return true;
  spins_ = false;
  return now - since_ < (shares ? 200us : 300us) && yield_core(shares);
}

void message_pace::wait() noexcept {
  using pace = task::detail::pace;
  if (armed_) {
    // Few wake-ups where other ranks need the core, which they ring for; elsewhere other nodes may not ring.
    const bool is_rare = doorbell::in_use() && doorbell::shares_cores();
    nap_ = is_rare && nap_.count() > 0 ? std::min(2 * nap_, pace::longest_sleep) : pace::shortest_sleep;
    armed_ = false;
    if (doorbell::sleep(armed_at_, nap_)) {  // more may follow soon
      *this = {};
      return;
    }
  } else if (watch()) {
    return;
  }
  armed_at_ = doorbell::arm();
  armed_ = true;
}

}  // namespace plaq::task::detail
