// What messengers and collectives ask of their wire, over one that this test holds.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "plaq/comm/collectives/operations.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/task/poller.hpp"

namespace {

using namespace plaq::comm;
namespace task = plaq::task;

/// Keeps everybody looking: one thing is expected as long as it lives.
class watch final : public task::poller {
 public:
  watch() {
    start_polling();
    (void)expect(1);
  }
  ~watch() {
    stop_polling();
    delivered(1);
  }
  bool poll() noexcept override { return false; }
};

/// A wire of rank 0 of two, where all is there at the first look of another thread than that which began it.
class quick_wire final : public wire {
 public:
  explicit quick_wire(std::atomic<int>& uncounted) : uncounted_(uncounted) {}
  std::vector<const std::byte*> written;  ///< by receives

  int rank() const override { return 0; }
  int size() const override { return 2; }
  handle send(const blocks&, int, int) override { return begin(); }
  handle receive(const blocks& to, int, int) override {
    written.push_back(to.data);
    return begin();
  }
  std::optional<arrival> next_arrival() override {
    look();
    return arrival{1, 0, 0, 0};
  }
  handle receive(const arrival&, const blocks&) override { return ++last_; }
  void test(std::span<handle> in_progress, std::vector<end>& ends) override {
    if (in_progress.empty() || std::this_thread::get_id() == beginner_) return;
    look();
    for (std::size_t i = 0; i < in_progress.size(); ++i) ends.push_back({i, 0, ""});
  }

  std::unique_ptr<wire> duplicate() override { return std::make_unique<quick_wire>(uncounted_); }

  // Not of messages.
  std::unique_ptr<wire> split(int, int) override { return nullptr; }
  std::unique_ptr<wire> split_by_node() override { return nullptr; }
  void cancel(handle) override {}
  handle prepare_send(const blocks&, int, int) override { return nothing; }
  void start(handle, std::size_t) override {}
  void forget(handle) override {}

 private:
  handle begin() {
    beginner_ = std::this_thread::get_id();
    return ++last_;
  }
  void look() {
    if (task::detail::expected < 2) ++uncounted_;  // the watch, and what was found
  }

  std::atomic<int>& uncounted_;
  std::thread::id beginner_;
  handle last_ = 0;
};

/// One byte from rank 1.
std::shared_ptr<const schedule> hear() {
  program steps;
  steps.receive(1, {}, 1);
  return std::make_shared<const schedule>(std::move(steps).finish());
}

/// Calls begin() for a while, each time until its future is ready, while another thread looks all the time.
template <class Begin>
void while_another_looks(Begin&& begin) {
  const watch awake;
  std::jthread other([](const std::stop_token& stop) {
    while (!stop.stop_requested()) task::detail::poll_once();
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < end)
    for (const auto future = begin(); !future.is_ready();) std::this_thread::yield();
}

// Whoever waits without a pool sleeps once nothing is expected.
TEST(operations, messages_are_counted_before_they_are_found) {
  std::atomic<int> uncounted{0};
  {
    messenger m{communicator(std::make_unique<quick_wire>(uncounted))};
    std::array<int, 0> none;
    while_another_looks([&] { return m.irecv(none, 1); });
    EXPECT_EQ(uncounted, 0) << "receives";
    while_another_looks([&] { return m.isend(none, 1); });
    EXPECT_EQ(uncounted, 0) << "sends";
  }
  EXPECT_EQ(task::detail::expected, 0);
}

TEST(operations, are_counted_before_they_are_found) {
  std::atomic<int> uncounted{0};
  {
    operations all(std::make_unique<quick_wire>(uncounted));
    const auto todo = hear();
    while_another_looks([&] { return all.start({plaq::trace::label("barrier"), todo, {}, {}, {}, {}}); });
  }
  EXPECT_EQ(uncounted, 0);
  EXPECT_EQ(task::detail::expected, 0);
}

TEST(operations, barriers_receive_into_bytes_of_their_own) {
  std::atomic<int> uncounted{0};
  auto made = std::make_unique<quick_wire>(uncounted);
  const auto& over = *made;
  operations all(std::move(made));
  std::vector<task::future<void>> both;
  for (int i = 0; i < 2; ++i) both.push_back(all.start({plaq::trace::label("barrier"), hear(), {}, {}, {}, {}}));
  ASSERT_EQ(over.written.size(), 2u);
  EXPECT_TRUE(over.written[0] && over.written[1]);
  EXPECT_NE(over.written[0], over.written[1]);
}

}  // namespace
