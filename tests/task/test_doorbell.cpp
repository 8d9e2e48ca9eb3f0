// Sleeps that other processes end. Here threads ring instead.
#include <atomic>
#include <thread>

#include "conformance.hpp"
#include "plaq/task/doorbell.hpp"
#include "plaq/task/poller.hpp"

namespace plaq::task {
namespace {

using namespace std::chrono_literals;
namespace doorbell = detail::doorbell;

constexpr std::chrono::microseconds for_ever = 1h;

/// A place of this process while it lives.
struct placed {
  placed() { doorbell::use(&own); }
  ~placed() { doorbell::use(nullptr); }
  doorbell::place own{};
};

TEST(doorbell, a_ring_ends_a_sleep) {
  placed here;
  std::atomic<bool> armed{false};
  std::jthread sender([&] {
    while (!armed) std::this_thread::yield();
    doorbell::ring(here.own.bell, true);
  });
  const auto at = doorbell::arm();
  armed = true;
  EXPECT_TRUE(doorbell::sleep(at, for_ever));
}

TEST(doorbell, a_ring_before_the_sleep_is_not_lost) {
  placed here;
  const auto at = doorbell::arm();
  doorbell::ring(here.own.bell, false);
  EXPECT_TRUE(doorbell::sleep(at, for_ever));
}

TEST(doorbell, is_silent_where_nobody_sleeps) {
  placed here;
  doorbell::ring(here.own.bell, true);
  EXPECT_EQ(here.own.bell, 0u);
}

TEST(doorbell, a_sleep_ends_without_a_ring_or_a_place) {
  {
    placed here;
    EXPECT_FALSE(doorbell::sleep(doorbell::arm(), 10us));
  }
  EXPECT_FALSE(doorbell::in_use());
  EXPECT_FALSE(doorbell::sleep(doorbell::arm(), 10us));
}

TEST(doorbell, a_gate_opens_while_a_thread_sleeps_at_the_bell) {
  placed here;
  detail::gate closed;
  for (int i = 0; i < 100; ++i) {
    const auto at = doorbell::arm();
    std::jthread opener([&] { doorbell::open(closed); });
    EXPECT_TRUE(doorbell::wait_at(closed, at, detail::clock::now() + for_ever));
  }
  const auto at = doorbell::arm();
  doorbell::ring(here.own.bell, true);
  EXPECT_FALSE(doorbell::wait_at(closed, at, detail::clock::now() + for_ever));
}

TEST(doorbell, the_place_tells_who_shares_cores) {
  EXPECT_FALSE(doorbell::shares_cores());
  placed here;
  doorbell::expect_sharing(true);
  EXPECT_TRUE(doorbell::shares_cores());
  here.own.shares = 1;
  EXPECT_FALSE(doorbell::shares_cores());
  doorbell::expect_sharing(false);
  here.own.shares = 2;
  EXPECT_TRUE(doorbell::shares_cores());
}

/// Delivers one event after each ring.
class rung_mail final : public poller {
 public:
  rung_mail() { start_polling(); }
  ~rung_mail() { stop_polling(); }
  future<int> order() {
    answer_ = promise<int>();
    auto result = answer_.get_future();
    if (expect(1)) wake_pools();
    return result;
  }
  void deliver(doorbell::place& to) {
    arrived_ = true;
    doorbell::ring(to.bell, true);
  }
  bool poll() noexcept override {
    if (!arrived_.exchange(false)) return false;
    delivered(1);
    answer_.set_value(7);
    return true;
  }

 private:
  promise<int> answer_;
  std::atomic<bool> arrived_{false};
};

template <class B>
using Doorbell = Conformance<B>;
TYPED_TEST_SUITE(Doorbell, every_backend, backend_names);

TYPED_TEST(Doorbell, tasks_and_threads_get_events_after_rings) {
  for (std::uint32_t shares : {1, 2}) {
    placed here;
    here.own.shares = shares;
    rung_mail mail;
    {
      typename TestFixture::pool_t pool({.workers = 1});
      for (int i = 0; i < 20; ++i) {
        auto waits = pool.async("waits", [&] { return mail.order().get(); });
        if (i % 2) std::this_thread::sleep_for(1ms);  // until it sleeps
        while (!detail::anything_expected()) std::this_thread::yield();
        mail.deliver(here.own);
        EXPECT_EQ(waits.get(), 7);
      }
    }
    for (int i = 0; i < 20; ++i) {
      auto answer = mail.order();
      std::jthread sender([&] { mail.deliver(here.own); });
      EXPECT_EQ(answer.get(), 7);
    }
  }
}

}  // namespace
}  // namespace plaq::task
