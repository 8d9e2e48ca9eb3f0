// The state machine of the termination detection, without communication: ranks of a made-up job send each other
// messages in any order, and waves run between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "plaq/comm/messages/four_counters.hpp"

namespace plaq::comm {
namespace {

struct counted {
  std::uint64_t sent = 0, handled = 0;
  std::uint64_t ended() const { return handled; }
  void add(const counted& other) {
    sent += other.sent;
    handled += other.handled;
  }
};
using state = four_counters<counted>;

/// Counts of all ranks in one wave: reports go up from the last rank to the first.
counted wave(std::vector<state>& ranks, const std::vector<counted>& own) {
  counted all;
  for (std::size_t r = ranks.size(); r-- > 0;) {
    EXPECT_TRUE(ranks[r].ready()) << "all children have reported";
    all = ranks[r].report(own[r]);
    EXPECT_FALSE(ranks[r].ready()) << "once in a wave";
    if (r > 0) ranks[std::size_t(ranks[r].parent())].receive(all);
  }
  for (state& s : ranks) s.begin_wave();
  return all;
}
std::vector<state> states(int ranks) {
  std::vector<state> out;
  for (int r = 0; r < ranks; ++r) out.emplace_back(r, ranks);
  return out;
}

TEST(four_counters, ranks_form_a_binary_tree) {
  for (int ranks = 1; ranks <= 20; ++ranks) {
    std::vector<int> parents(std::size_t(ranks), -1);
    for (int r = 0; r < ranks; ++r) {
      const state s(r, ranks);
      for (const int child : s.children()) {
        EXPECT_LT(child, ranks);
        EXPECT_EQ(parents[std::size_t(child)], -1) << "one parent";
        parents[std::size_t(child)] = r;
      }
    }
    for (int r = 1; r < ranks; ++r) EXPECT_EQ(parents[std::size_t(r)], state(r, ranks).parent());
    EXPECT_EQ(parents[0], -1);
  }
}

TEST(four_counters, a_wave_adds_the_counts_of_all_ranks) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    auto all = states(ranks);
    std::vector<counted> own;
    counted expected;
    for (int r = 0; r < ranks; ++r) {
      own.push_back({std::uint64_t(1) << r, std::uint64_t(3 * r)});
      expected.add(own.back());
    }
    for (int time = 0; time < 3; ++time) {  // no count is left of the previous wave
      const counted sum = wave(all, own);
      EXPECT_EQ(sum.sent, expected.sent);
      EXPECT_EQ(sum.handled, expected.handled);
    }
  }
}

TEST(four_counters, a_rank_waits_for_both_children) {
  state root(0, 3);
  EXPECT_FALSE(root.ready());
  root.receive({1, 1});
  EXPECT_FALSE(root.ready());
  root.receive({2, 2});
  EXPECT_TRUE(root.ready());
}

TEST(four_counters, termination_needs_two_waves) {
  state root(0, 1);
  EXPECT_FALSE(root.decide({0, 0})) << "one wave says nothing, even of a job without messages";
  EXPECT_TRUE(root.decide({0, 0}));
  root.reset();
  EXPECT_FALSE(root.decide({0, 0})) << "as at first";
}

TEST(four_counters, a_message_between_two_waves_defers_termination) {
  state root(0, 1);
  EXPECT_FALSE(root.decide({5, 5}));
  EXPECT_FALSE(root.decide({6, 5})) << "sent after the first wave";
  EXPECT_FALSE(root.decide({6, 6})) << "handled after the second";
  EXPECT_TRUE(root.decide({6, 6}));
}

TEST(four_counters, a_message_that_overtakes_the_wave_defers_termination) {
  // The receiver is counted after it has handled the message, the sender before it has sent it: the sums agree.
  state root(0, 1);
  EXPECT_FALSE(root.decide({3, 3}));
  EXPECT_FALSE(root.decide({4, 4})) << "4 sent, but 3 had ended before";
  EXPECT_TRUE(root.decide({4, 4}));
}

/// Messages in progress, ranks in any order, each counted at any time: the decision comes after the last message, and
/// it comes.
TEST(four_counters, decides_neither_too_early_nor_never) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int ranks = 1 + int(random() % 8);
    auto all = states(ranks);
    std::vector<counted> own(std::size_t(ranks), counted{});
    std::deque<std::size_t> in_progress;  // receivers
    unsigned left = random() % 60;        // messages that may still be sent
    const auto send = [&](std::size_t from) {
      ++own[from].sent;
      in_progress.push_back(random() % std::size_t(ranks));
      --left;
    };
    const auto handle = [&] {
      if (in_progress.empty()) return;
      std::swap(in_progress[random() % in_progress.size()], in_progress.back());
      const std::size_t to = in_progress.back();
      in_progress.pop_back();
      ++own[to].handled;
      for (unsigned k = random() % 3; k > 0 && left > 0; --k) send(to);
    };
    if (left > 0) send(0);
    int waves = 0;
    for (bool decided = false; !decided; ++waves) {
      ASSERT_LT(waves, 1000) << "seed " << seed;
      counted sum;
      for (std::size_t r = all.size(); r-- > 0;) {
        for (unsigned k = random() % 3; k > 0; --k) handle();  // while the wave runs
        ASSERT_TRUE(all[r].ready());
        sum = all[r].report(own[r]);
        if (r > 0) all[std::size_t(all[r].parent())].receive(sum);
      }
      decided = all[0].decide(sum);
      EXPECT_TRUE(!decided || in_progress.empty()) << "seed " << seed;
      for (state& s : all) s.begin_wave();
    }
  }
}

}  // namespace
}  // namespace plaq::comm
