// Termination detection of a collection without MPI: ranks of one process, whose messages arrive in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "plaq/collection/runtime/termination.hpp"

namespace plaq::elements {
namespace {

/// Ranks of a job. Each has a thread for wait(); messages arrive in the thread of the test.
class detection {
 public:
  explicit detection(int ranks, unsigned seed = 0)
      : random_(seed), terminated(std::size_t(ranks), 0), flushes(std::size_t(ranks), 0) {
    for (int r = 0; r < ranks; ++r) ranks_.push_back(std::make_unique<termination>("cells", r, ranks, environment(r)));
  }
  ~detection() {
    for (auto& r : ranks_) r->stop();
  }

  termination& at(int rank) { return *ranks_[std::size_t(rank)]; }
  int size() const { return int(ranks_.size()); }
  /// Sends a message that counts.
  void send(int from, int to, std::function<void()> handle) {
    at(from).count_sent();
    ++in_progress;
    travel([this, to, handle = std::move(handle)] {
      handle();
      at(to).count_handled();
      --in_progress;
    });
  }
  void wait_on_all_ranks() {
    for (int r = 0; r < size(); ++r)
      waiting_.emplace_back([this, r] {
        at(r).wait();
        ++returned;
      });
  }
  /// Lets one message arrive, in any order. Returns false if there is none.
  bool next() {
    std::function<void()> arrive;
    {
      std::lock_guard lock(guard_);
      if (travelling_.empty()) return false;
      std::swap(travelling_[random_() % travelling_.size()], travelling_.back());
      arrive = std::move(travelling_.back());
      travelling_.pop_back();
    }
    arrive();
    return true;
  }
  void run_to_the_end() {
    while (returned < size())
      if (!next()) std::this_thread::yield();
    waiting_.clear();
  }

 private:
  termination::environment environment(int rank) {
    return {.flush = [this, rank] { ++flushes[std::size_t(rank)]; },
            .awaits_result = [] { return false; },
            .describe =
                [this, rank](wave_counts& c, bool unchanged) {
                  c.elements = std::uint64_t(10 + rank);
                  c.least_steps = c.most_steps = 3;
                  if (unchanged && rank == blocked_rank) c.element = {.step = 2, .description = "it waits"};
                },
            .send_counts = [this](const wave_counts& c, int to) { travel([this, c, to] { at(to).receive(c); }); },
            .send_decision =
                [this](const decision& d, int to) {
                  travel([this, d, to] {
                    EXPECT_TRUE(!d.terminated || in_progress == 0);
                    at(to).receive(d);
                  });
                },
            .send_failure =
                [this](const std::string& why, int to) {
                  travel([this, why, to] {
                    failure = why;
                    at(to).stop();
                  });
                },
            .terminated = [this, rank](std::uint64_t n) { terminated[std::size_t(rank)] = n; }};
  }
  void travel(std::function<void()> arrive) {
    std::lock_guard lock(guard_);
    travelling_.push_back(std::move(arrive));
  }

  std::mutex guard_;
  std::mt19937 random_;
  std::vector<std::function<void()>> travelling_;

 public:
  std::vector<std::uint64_t> terminated;
  std::vector<int> flushes;
  std::string failure;
  int blocked_rank = -1;
  std::atomic<int> returned{0}, in_progress{0};

 private:
  std::vector<std::unique_ptr<termination>> ranks_;
  std::vector<std::jthread> waiting_;  // destroyed first
};

TEST(termination, tells_all_ranks_the_number_of_elements) {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    detection j(ranks, unsigned(ranks));
    j.wait_on_all_ranks();
    j.run_to_the_end();
    const auto all = std::uint64_t(10 * ranks + ranks * (ranks - 1) / 2);
    EXPECT_EQ(j.terminated, std::vector<std::uint64_t>(std::size_t(ranks), all));
  }
}

TEST(termination, comes_after_the_last_message_of_a_chain) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    detection j(1 + int(seed % 6), seed);
    std::mt19937 random(seed);
    int handled = 0;
    std::function<void(int, int)> send = [&](int from, int left) {
      const int to = int(random() % unsigned(j.size()));
      j.send(from, to, [&, to, left] {
        ++handled;
        if (left > 0) send(to, left - 1);
      });
    };
    send(0, 40);
    j.wait_on_all_ranks();
    j.run_to_the_end();
    EXPECT_EQ(handled, 41) << "seed " << seed;
  }
}

TEST(termination, waits_for_tasks_and_flushes_after_the_last) {
  detection j(3);
  j.at(1).begin_task();
  j.at(1).begin_task();
  j.wait_on_all_ranks();
  for (int n = 0; n < 1000; ++n) j.next();
  EXPECT_EQ(j.returned, 0);
  j.at(1).end_task();
  EXPECT_EQ(j.flushes[1], 0) << "another is in progress";
  for (int n = 0; n < 1000; ++n) j.next();
  EXPECT_EQ(j.returned, 0);
  j.at(1).end_task();
  EXPECT_EQ(j.flushes[1], 1);
  j.run_to_the_end();
  EXPECT_EQ(j.failure, "");
}

TEST(termination, a_second_wait_begins_anew) {
  detection j(3);
  for (int time = 0; time < 3; ++time) {
    j.returned = 0;
    std::ranges::fill(j.terminated, 0);
    j.send(2, 1, [] {});
    j.wait_on_all_ranks();
    j.run_to_the_end();
    EXPECT_EQ(j.terminated, (std::vector<std::uint64_t>{33, 33, 33}));
  }
}

TEST(termination, a_deadlock_fails_all_ranks) {
  detection j(4);
  j.blocked_rank = 2;
  j.wait_on_all_ranks();
  j.run_to_the_end();
  EXPECT_EQ(j.failure, "it waits");
  EXPECT_EQ(j.terminated[0], 0u);
}

TEST(termination, stop_ends_a_wait) {
  detection j(2);
  j.at(1).begin_task();
  j.wait_on_all_ranks();
  j.at(0).stop();
  j.at(1).stop();
  j.run_to_the_end();
  EXPECT_EQ(j.terminated[0], 0u);
  j.at(1).end_task();
  j.at(1).join();
}

wave_counts equal_steps() {
  wave_counts out;
  out.least_steps = out.most_steps = 5;
  return out;
}

TEST(deadlock, of_nothing_blocked_is_none) {
  EXPECT_EQ(deadlock_of(equal_steps(), "cells"), "");
  wave_counts all = equal_steps();
  all.all_wait = false;
  all.most_steps = 6;
  all.receiver = {.step = 1, .description = "nowhere"};
  EXPECT_EQ(deadlock_of(all, "cells"), "") << "a rank has more to do";
}

TEST(deadlock, is_an_element_that_waits_in_a_step_of_all_ranks) {
  wave_counts all = equal_steps();
  all.most_steps = 6;
  all.all_wait = false;
  all.element = {.step = 4, .description = "it waits"};
  EXPECT_EQ(deadlock_of(all, "cells"), "it waits") << "though ranks may issue more steps";
  all.element.step = 5;
  EXPECT_EQ(deadlock_of(all, "cells"), "") << "a rank may still issue step 5";
}

TEST(deadlock, is_a_number_of_steps_that_differs) {
  wave_counts all = equal_steps();
  all.most_steps = 7;
  EXPECT_EQ(deadlock_of(all, "cells"), "cells: ranks have different numbers of steps, 5 and 7");
}

TEST(deadlock, is_a_reduction_that_lacks_contributions) {
  wave_counts all = equal_steps();
  all.reduction = {.step = 5, .description = "another call"};
  EXPECT_EQ(deadlock_of(all, "cells"), "another call");
}

TEST(deadlock, is_a_message_to_nobody) {
  wave_counts all = equal_steps();
  all.receiver = {.step = 5, .description = "nowhere"};
  EXPECT_EQ(deadlock_of(all, "cells"), "nowhere");
}

TEST(blocked, keeps_the_earliest_step_and_the_least_key) {
  blocked first;
  EXPECT_FALSE(first);
  const auto words = [](std::string text) { return [text] { return text; }; };
  first.keep_first(3, 8, words("a"));
  first.keep_first(3, 9, words("b"));
  EXPECT_EQ(first.description, "a");
  first.keep_first(3, 7, words("c"));
  EXPECT_EQ(first.description, "c");
  first.keep_first(2, 9, words("d"));
  EXPECT_EQ(first.description, "d");
  first.keep_first(4, 0, []() -> std::string {
    ADD_FAILURE() << "not asked for";
    return "";
  });
  first.keep_first(blocked{});
  EXPECT_EQ(first.description, "d");
}

TEST(wave_counts, add_up_over_ranks) {
  wave_counts a{.sent = 3, .handled = 2, .elements = 10, .least_steps = 4, .most_steps = 4};
  wave_counts b{.sent = 5, .handled = 7, .elements = 1, .least_steps = 2, .most_steps = 9, .all_wait = false};
  a.element = {.step = 4, .id = 1, .description = "late"};
  b.element = {.step = 3, .id = 2, .description = "early"};
  a.add(b);
  EXPECT_EQ(a.sent, 8u);
  EXPECT_EQ(a.ended(), 9u);
  EXPECT_EQ(a.elements, 11u);
  EXPECT_EQ(a.least_steps, 2);
  EXPECT_EQ(a.most_steps, 9);
  EXPECT_FALSE(a.all_wait);
  EXPECT_EQ(a.element.description, "early");
}

}  // namespace
}  // namespace plaq::elements
