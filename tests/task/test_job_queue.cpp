// The queue of a worker against a std::deque, and under thieves.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "plaq/task/job.hpp"
#include "plaq/task/job_queue.hpp"

namespace plaq::task::detail {
namespace {

struct nowhere final : scheduler {
  void submit(job&) noexcept override {}
  void announce() noexcept override {}
  void suspend(job&, std::atomic<wait_state>&) noexcept override {}
  void resume(job&) noexcept override {}
  void yield(job&) noexcept override {}
  int worker_here() const noexcept override { return 0; }
};

struct numbered final : job {
  numbered(scheduler& home, int number) : job(home, "numbered"), number(number) {}
  void run() noexcept override {}
  void fail(std::exception_ptr) noexcept override {}
  const int number;
};

std::deque<numbered> jobs(scheduler& home, int n) {
  std::deque<numbered> all;
  for (int i = 0; i < n; ++i) all.emplace_back(home, i);
  return all;
}

TEST(JobQueue, IsADequeOfWhichThievesTakeTheOlderHalf) {
  nowhere home;
  auto all = jobs(home, 2000);
  std::mt19937 random(5);
  job_queue queue;
  std::deque<job*> model;
  std::size_t next = 0, longest = 0;
  while (next < all.size() || !model.empty()) {
    // It grows beyond its first 64 places, then runs empty again.
    const auto what = random() % (next < all.size() ? 8 : 3);
    if (what == 0) {
      job* const newest = model.empty() ? nullptr : model.back();
      ASSERT_EQ(queue.pop_new(), newest);
      if (newest) model.pop_back();
    } else if (what == 1) {
      job* const oldest = model.empty() ? nullptr : model.front();
      ASSERT_EQ(queue.pop_old(), oldest);
      if (oldest) model.pop_front();
    } else if (what == 2 && random() % 16 == 0) {
      std::array<job*, job_queue::most> loot;
      const std::size_t n = queue.pop_half(loot);
      ASSERT_EQ(n, std::min((model.size() + 1) / 2, job_queue::most));
      for (std::size_t i = 0; i < n; ++i, model.pop_front()) ASSERT_EQ(loot[i], model.front());
    } else if (next < all.size()) {
      job& fresh = all[next++];
      if (what % 2) {
        queue.push_new(fresh);
        model.push_back(&fresh);
      } else {
        queue.push_old(fresh);
        model.push_front(&fresh);
      }
    }
    ASSERT_EQ(queue.size(), model.size());
    ASSERT_EQ(queue.empty(), model.empty());
    longest = std::max(longest, model.size());
  }
  EXPECT_GT(longest, 256u);
}

TEST(JobQueue, GivesEachJobToOneOfOwnerAndThieves) {
  constexpr int n = 20000;
  nowhere home;
  auto all = jobs(home, n);
  job_queue queue;
  std::vector<std::atomic<int>> taken(n);
  std::atomic<int> left{n};
  const auto take = [&](job* j) {
    ++taken[static_cast<std::size_t>(static_cast<numbered*>(j)->number)];
    --left;
  };
  {
    std::vector<std::jthread> thieves;
    for (int t = 0; t < 2; ++t)
      thieves.emplace_back([&, t] {
        std::array<job*, job_queue::most> loot;
        while (left > 0) {
          if (t == 0) {
            for (std::size_t i = 0, got = queue.pop_half(loot); i < got; ++i) take(loot[i]);
          } else if (job* j = queue.pop_old()) {
            take(j);
          }
          std::this_thread::yield();
        }
      });
    for (int i = 0; i < n; ++i) {
      if (i % 3 == 0)
        queue.push_old(all[static_cast<std::size_t>(i)]);
      else
        queue.push_new(all[static_cast<std::size_t>(i)]);
      if (i % 5 == 0)
        if (job* j = queue.pop_new()) take(j);
    }
    while (job* j = queue.pop_new()) take(j);
  }
  EXPECT_TRUE(std::ranges::all_of(taken, [](const auto& times) { return times == 1; }));
}

}  // namespace
}  // namespace plaq::task::detail
