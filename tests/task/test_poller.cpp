// Waiting for something that only moves when it is looked at.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance.hpp"
#include "plaq/task/poller.hpp"

namespace plaq::task {
namespace {

/// Keeps the promise that it was given last after so many looks.
class slow_mail final : public poller {
 public:
  slow_mail() { start_polling(); }
  ~slow_mail() { stop_polling(); }
  future<int> order(int looks) {
    std::unique_lock lock(mutex_);
    open_.push_back({promise<int>(), looks});
    auto result = open_.back().answer.get_future();
    const bool first = expect(1);
    lock.unlock();
    if (first) wake_pools();
    return result;
  }
  void hurry() {
    std::lock_guard lock(mutex_);
    for (auto& entry : open_) entry.looks = 1;
  }
  bool poll() noexcept override {
    std::vector<promise<int>> due;
    {
      std::lock_guard lock(mutex_);
      for (auto& entry : open_)
        if (--entry.looks <= 0) due.push_back(std::move(entry.answer));
      std::erase_if(open_, [](const entry& e) { return e.looks <= 0; });
    }
    delivered(static_cast<long>(due.size()));
    for (auto& answer : due) answer.set_value(7);
    return !due.empty();
  }

 private:
  struct entry {
    promise<int> answer;
    int looks;
  };
  std::mutex mutex_;
  std::vector<entry> open_;
};

template <class B>
using Poller = Conformance<B>;
TYPED_TEST_SUITE(Poller, every_backend, backend_names);

constexpr int few = 3, many = 1600, never = 1 << 30;  // many: naps come into it

TYPED_TEST(Poller, tasks_that_wait_are_polled_for_by_idle_workers) {
  for (int workers : {1, 2}) {
    slow_mail mail;
    typename TestFixture::pool_t pool({.workers = workers});
    for (int looks : {few, many}) {
      std::vector<typename TypeParam::template future<int>> waiting;
      for (int i = 0; i < 20; ++i) waiting.push_back(pool.async("waits", [&] { return mail.order(looks).get(); }));
      for (auto& w : waiting) EXPECT_EQ(w.get(), 7);
    }
  }
}

TYPED_TEST(Poller, others_run_while_one_waits) {
  slow_mail mail;
  typename TestFixture::pool_t pool({.workers = 1});
  std::atomic<int> ran{0};
  auto waits = pool.async("waits", [&] {
    auto answer = mail.order(many);
    EXPECT_EQ(answer.get(), 7);
  });
  for (int i = 0; i < 50; ++i) pool.async("other", [&] { ++ran; }).get();
  waits.get();
  EXPECT_EQ(ran, 50);
}

TYPED_TEST(Poller, a_busy_worker_looks_now_and_then) {
  slow_mail mail;
  typename TestFixture::pool_t pool({.workers = 1});
  auto answer = mail.order(few);
  // There is always another task that could run.
  auto busy = pool.async("busy", [&] {
    while (!answer.is_ready())
      for (int i = 0; i < 10; ++i) pool.async("short", [] {}).get();
  });
  busy.get();
  EXPECT_EQ(answer.get(), 7);
}

TYPED_TEST(Poller, sleeping_workers_are_roused_by_who_does_not_wait) {
  slow_mail mail;
  typename TestFixture::pool_t pool({.workers = 2});
  promise<void> later;
  auto waits = pool.async("waits", [&] { later.get_future().get(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough for them to fall asleep
  auto answer = mail.order(many);
  while (!answer.is_ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // does not poll
  later.set_value();
  waits.get();
}

TYPED_TEST(Poller, what_is_expected_does_not_keep_a_pool_from_ending) {
  slow_mail mail;
  auto answer = mail.order(never);
  { typename TestFixture::pool_t pool({.workers = 2}); }
  EXPECT_FALSE(answer.is_ready());
  mail.hurry();
  answer.wait();
}

TEST(poller, a_thread_outside_of_pools_polls_for_itself) {
  slow_mail mail;
  for (int looks : {1, few, many}) EXPECT_EQ(mail.order(looks).get(), 7);
  auto late = mail.order(never);
  EXPECT_EQ(late.wait_for(std::chrono::milliseconds(2)), std::future_status::timeout);
  auto soon = mail.order(few);
  EXPECT_EQ(soon.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  mail.hurry();
  late.wait();
}

TEST(poller, is_not_polled_before_it_is_made) {
  struct slowly_made final : poller {
    slowly_made() {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      made = true;
      start_polling();
    }
    ~slowly_made() { stop_polling(); }
    bool poll() noexcept override {
      EXPECT_TRUE(made);
      return false;
    }
    bool made = false;
  };
  slow_mail mail;
  fiber::pool pool({.workers = 1});
  auto never = mail.order(1 << 30);  // so that a thread polls all the time
  for (int i = 0; i < 5; ++i) slowly_made();
  mail.hurry();
  never.wait();
}

TEST(poller, is_not_polled_when_no_event_is_expected) {
  struct unwanted final : poller {
    unwanted() { start_polling(); }
    bool poll() noexcept override {
      ADD_FAILURE() << "polled for nothing";
      return false;
    }
  } quiet;
  fiber::pool pool({.workers = 2});
  pool.async("nothing", [] { fiber::sleep_for(std::chrono::milliseconds(5)); }).get();
}

}  // namespace
}  // namespace plaq::task
