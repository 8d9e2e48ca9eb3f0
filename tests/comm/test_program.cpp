// What schedules are made of, against definitions that are slow and short: which step waits for which, which parts of
// a sum are added, who is whose parent.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/schedules/node_map.hpp"
#include "plaq/comm/schedules/parts_of_sum.hpp"
#include "plaq/comm/schedules/schedule.hpp"
#include "plaq/comm/schedules/schedule_runner.hpp"

namespace {

using namespace plaq::comm;

struct dice {
  explicit dice(unsigned seed) : bits(seed) {}
  int below(int n) { return int(bits() % unsigned(n)); }
  std::mt19937 bits;
};

// Steps in any order that their edges allow.

constexpr std::size_t bytes = 24;
using memories = std::array<std::array<unsigned, bytes>, 3>;  // [memory][byte]

unsigned& at(memories& m, location l, std::size_t i) { return m[std::size_t(l.where)][l.offset + i]; }

/// What a step does; combining neither commutes nor associates, so that any other order shows.
void carry_out(const step& s, memories& m) {
  std::vector<unsigned> made(s.size);
  for (std::size_t i = 0; i < s.size; ++i)
    made[i] = s.what == step::action::combine ? 3 * at(m, s.from, i) + 5 * at(m, s.right, i) + 1 : at(m, s.from, i);
  for (std::size_t i = 0; i < s.size; ++i) at(m, s.to, i) = made[i];
}

/// Starts steps as a schedule_runner does and completes them in random order: what they read and write counts then.
class random_executor final : public executor {
 public:
  random_executor(dice& by, memories& on) : by_(by), on_(on) {}
  bool start(std::uint32_t number, const step& s) override {
    most = std::max(most, active_.size() + 1);
    if (by_.below(4) == 0) return carry_out(s, on_), true;
    active_.emplace_back(number, &s);
    return false;
  }
  void finished(std::vector<std::uint32_t>& numbers) override {
    const auto i = std::size_t(by_.below(int(active_.size())));
    carry_out(*active_[i].second, on_);
    numbers.push_back(active_[i].first);
    active_.erase(active_.begin() + std::ptrdiff_t(i));
  }
  std::size_t most = 0;  ///< under way at once

 private:
  dice& by_;
  memories& on_;
  std::vector<std::pair<std::uint32_t, const step*>> active_;
};

TEST(program, gives_the_same_in_any_order_that_it_allows) {
  dice random(1);
  std::size_t most = 0;
  for (int round = 0; round < 400; ++round) {
    program steps;
    const auto anywhere = [&](std::size_t size, bool may_be_input) {
      return location{memory(random.below(may_be_input ? 3 : 2) + (may_be_input ? 0 : 1)),
                      std::size_t(random.below(int(bytes - size + 1)))};
    };
    for (int i = 0; i < 12; ++i) {
      const auto size = std::size_t(random.below(7));
      const location to = anywhere(size, false), left = anywhere(size, true), right = anywhere(size, true);
      if (random.below(2))
        steps.copy(to, left, size);
      else
        steps.combine(to, left, right, size);
    }
    const schedule todo = std::move(steps).finish();
    memories in_turn{}, found{};
    for (auto& m : in_turn) std::iota(m.begin(), m.end(), unsigned(round));
    found = in_turn;
    for (const step& s : todo.steps) carry_out(s, in_turn);
    random_executor by(random, found);
    schedule_runner runs;
    runs.begin(todo, by);
    EXPECT_TRUE(runs.progress());
    ASSERT_EQ(found, in_turn) << "round " << round;
    most = std::max(most, by.most);
  }
  EXPECT_GE(most, 4u) << "what does not touch goes on at the same time";
}

/// [step]: those that it waits for, and whether until they are complete.
std::vector<std::map<std::uint32_t, bool>> waits(const schedule& s) {
  std::vector<std::map<std::uint32_t, bool>> all(s.steps.size());
  for (std::uint32_t i = 0; i < s.steps.size(); ++i)
    for (auto e = s.edge_begin[i]; e < s.edge_begin[i + 1]; ++e) all[s.edges[e].later][i] = !s.edges[e].only_begun;
  return all;
}

TEST(program, messages_of_one_peer_begin_in_turn_and_the_rest_follows_from_their_bytes) {
  program steps;
  const location out{memory::output, 0}, far{memory::output, 100};
  steps.send(1, out, 8);         // 0
  steps.send(2, out, 8);         // 1: another peer
  steps.send(1, far, 8);         // 2: when 0 has begun
  steps.receive(1, far, 4);      // 3: overwrites what 2 sends
  steps.receive(1, out + 4, 2);  // 4: when 3 has begun; overwrites what 0 and 1 send
  steps.send(2, out, 4);         // 5: when 1 has begun; not what 4 wrote
  const auto found = waits(std::move(steps).finish());
  using these = std::map<std::uint32_t, bool>;
  EXPECT_EQ(found[0], these{});
  EXPECT_EQ(found[1], these{});
  EXPECT_EQ(found[2], (these{{0, false}}));
  EXPECT_EQ(found[3], (these{{2, true}}));
  EXPECT_EQ(found[4], (these{{0, true}, {1, true}, {3, false}}));
  EXPECT_EQ(found[5], (these{{1, false}}));
}

TEST(program, keeps_nothing_that_does_nothing) {
  program steps;
  const location here{memory::output, 0}, there{memory::scratch, 8};
  steps.send(1, here, 0);
  steps.receive(1, here, 0);
  steps.copy(there, here, 0);
  steps.combine(here, here, there, 0);
  steps.copy(here, here, 8);
  EXPECT_TRUE(std::move(steps).finish().steps.empty());
}

TEST(program, allocates_whole_cache_lines_that_do_not_touch) {
  program steps;
  EXPECT_EQ(steps.allocate(1), (location{memory::scratch, 0}));
  EXPECT_EQ(steps.allocate(64), (location{memory::scratch, 64}));
  EXPECT_EQ(steps.allocate(65), (location{memory::scratch, 128}));
  EXPECT_EQ(steps.allocate(0), (location{memory::scratch, 256}));
  EXPECT_EQ(std::move(steps).finish().scratch, 256u);
}

TEST(program, never_writes_its_input) {
  program steps;
  EXPECT_ANY_THROW(steps.receive(1, {memory::input, 0}, 8));
}

// Sums.

/// The sum of contributions begin ... end - 1 of n as the fixed bracketing has it, in words: block (m, j) is
/// (m - 1, 2 j) + (m - 1, 2 j + 1), where there is the latter.
std::string balanced(std::int64_t begin, std::int64_t size, std::int64_t n) {
  if (size == 1) return std::to_string(begin);
  const std::int64_t middle = begin + size / 2;
  if (middle >= n) return balanced(begin, size / 2, n);
  return "(" + balanced(begin, size / 2, n) + " " + balanced(middle, size / 2, n) + ")";
}

/// Merges parts of which each location holds its sum in words.
struct sums {
  std::map<std::pair<memory, std::size_t>, std::string> held;
  std::string& at(location l) { return held[{l.where, l.offset}]; }

  std::vector<part_of_sum> merged(bracketing how, std::vector<part_of_sum> parts, std::size_t size) {
    program steps;
    (void)steps.allocate(1 << 20);  // where they lie
    auto left = merge(steps, how, std::move(parts), size, {});
    const schedule todo = std::move(steps).finish();
    for (const step& s : todo.steps) {
      const std::string sum = "(" + at(s.from) + " " + at(s.right) + ")";
      at(s.to) = sum;
    }
    return left;
  }
};

TEST(parts_of_sum, have_one_bracketing_however_they_are_dealt_out_and_merged) {
  dice random(2);
  for (int round = 0; round < 500; ++round) {
    const int n = 1 + random.below(40);
    const bracketing how{true, n};
    sums all;
    std::size_t next = 0;
    const auto fresh = [&](std::int64_t contribution) {
      const location l{memory::scratch, 8 * next++};
      all.at(l) = std::to_string(contribution);
      return l;
    };
    // Ranges of some contributions each, merged by themselves, then neighbours with each other in random order.
    std::vector<std::vector<part_of_sum>> groups;
    for (int begin = 0; begin < n;) {
      const int end = std::min(n, begin + 1 + random.below(9));
      std::vector<part_of_sum> single;
      for (int i = begin; i < end; ++i) single.push_back({i, i + 1, fresh(i), true});
      std::ranges::shuffle(single, random.bits);
      groups.push_back(all.merged(how, single, 8));
      const auto expected = parts_of(how, begin, end);
      ASSERT_EQ(groups.back().size(), expected.size()) << begin << " ... " << end << " of " << n;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(groups.back()[i].begin, expected[i].begin);
        EXPECT_EQ(groups.back()[i].end, expected[i].end);
      }
      begin = end;
    }
    while (groups.size() > 1) {
      const auto left = groups.begin() + random.below(int(groups.size()) - 1);
      left->insert(left->end(), (left + 1)->begin(), (left + 1)->end());
      groups.erase(left + 1);
      *left = all.merged(how, *left, 8);
    }
    ASSERT_EQ(groups[0].size(), 1u);
    std::int64_t size = 1;
    while (size < n) size *= 2;
    EXPECT_EQ(all.at(groups[0][0].at), balanced(0, size, n));
  }
}

TEST(parts_of_sum, are_few) {
  for (std::int64_t n = 1; n < 70; ++n)
    for (std::int64_t begin = 0; begin < n; ++begin)
      for (std::int64_t end = begin + 1; end <= n; ++end) {
        const auto parts = parts_of({true, n}, begin, end);
        std::int64_t at = begin;
        for (const auto& p : parts) {
          EXPECT_EQ(p.begin, at);
          at = p.end;
        }
        EXPECT_EQ(at, end);
        EXPECT_LE(double(parts.size()), std::max(1., 2 * std::log2(double(n)))) << begin << " ... " << end;
        EXPECT_EQ(parts_of({false, n}, begin, end).size(), 1u) << "a free order needs one";
      }
}

TEST(parts_of_sum, spare_what_is_not_theirs_and_come_to_where_they_are_asked) {
  sums all;
  const location mine{memory::input, 0}, yours{memory::input, 8}, target{memory::output, 0};
  program steps;
  const auto done = merge(steps, {false, 2}, {{0, 1, mine, false}, {1, 2, yours, false}}, 8, target);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].at, target);
  const auto alone = merge(steps, {false, 1}, {{0, 1, mine, false}}, 8, target);
  EXPECT_EQ(alone[0].at, target);
  EXPECT_TRUE(alone[0].writable);
  const schedule todo = std::move(steps).finish();
  ASSERT_EQ(todo.steps.size(), 2u);
  EXPECT_EQ(todo.steps[0].what, step::action::combine);
  EXPECT_EQ(todo.steps[1].what, step::action::copy);
  for (const step& s : todo.steps) EXPECT_EQ(s.to, target);
}

// Ranks.

node_map random_seating(dice& random, int ranks) {
  std::vector<int> node(static_cast<std::size_t>(ranks));
  const int nodes = 1 + random.below(5);
  for (auto& n : node) n = random.below(nodes);
  return node_map(node);
}

TEST(node_map, puts_ranks_of_a_node_side_by_side_in_their_order) {
  const std::vector<int> node_of{7, 2, 7, 2, 5, 7};
  const node_map map(node_of);
  EXPECT_EQ(map.nodes(), 3);
  EXPECT_FALSE(map.in_rank_order());
  std::vector<int> ranks;
  for (int i = 0; i < 6; ++i) {
    ranks.push_back(map.rank_at(i));
    EXPECT_EQ(map.position_of(map.rank_at(i)), i);
  }
  EXPECT_EQ(ranks, (std::vector{0, 2, 5, 1, 3, 4})) << "nodes by their lowest rank";
  EXPECT_TRUE(node_map(std::vector{0, 0, 1, 1}).in_rank_order());
}

TEST(node_map, splits_into_neighbours_and_between_nodes_where_it_can) {
  dice random(3);
  for (int round = 0; round < 2000; ++round) {
    const int ranks = 1 + random.below(40), parts = 1 + random.below(9);
    const node_map map = random_seating(random, ranks);
    const int begin = random.below(ranks), end = begin + 1 + random.below(ranks - begin);
    const auto found = map.split({begin, end}, parts);
    EXPECT_LE(int(found.size()), parts);
    int at = begin;
    for (const range& r : found) {
      EXPECT_EQ(r.begin, at);
      EXPECT_GT(r.size(), 0);
      at = r.end;
    }
    EXPECT_EQ(at, end);
  }
  const node_map two(std::vector{0, 0, 0, 0, 0, 1, 1, 1});
  EXPECT_EQ(two.split({0, 8}, 2), (std::vector<range>{{0, 5}, {5, 8}}));
  EXPECT_EQ(node_map(8).split({0, 8}, 2), (std::vector<range>{{0, 4}, {4, 8}}));
  EXPECT_TRUE(node_map(8).split({3, 3}, 2).empty());
}

TEST(node_map, of_equally_many_ranks_a_node_is_that_of_a_list) {
  dice random(5);
  for (int ranks = 1; ranks < 40; ++ranks)
    for (int per_node = 1; per_node <= ranks; ++per_node) {
      std::vector<int> node_of;
      for (int r = 0; r < ranks; ++r) node_of.push_back(r / per_node);
      const node_map list(node_of), rule(ranks, per_node);
      EXPECT_EQ(rule.nodes(), list.nodes());
      EXPECT_TRUE(rule.in_rank_order());
      const int begin = random.below(ranks), end = begin + 1 + random.below(ranks - begin);
      for (int parts = 1; parts < 6; ++parts)
        EXPECT_EQ(rule.split({begin, end}, parts), list.split({begin, end}, parts)) << ranks << " by " << per_node;
    }
}

// A child is one whose parent says so, and the subtrees of a rank's children are its own without itself.
TEST(tree_node, of_all_ranks_make_one_tree) {
  dice random(4);
  for (int round = 0; round < 300; ++round) {
    const int ranks = 1 + random.below(40), arity = 1 + random.below(6), root = random.below(ranks);
    const shape kind = random.below(2) ? shape::nomial : shape::fixed;
    const node_map map = random_seating(random, ranks);
    std::vector<tree_node> all;
    for (int i = 0; i < ranks; ++i) all.push_back(find_tree_node(map, kind, arity, root, i));
    for (int i = 0; i < ranks; ++i) {
      const tree_node& f = all[std::size_t(i)];
      EXPECT_EQ(f.parent == -1, i == root);
      EXPECT_TRUE(f.members.contains(i));
      if (kind == shape::fixed) {
        EXPECT_LE(int(f.children.size()), std::max(arity, 2)) << "a root within its range has two sides";
      }
      int below = 0;
      for (const auto& child : f.children) {
        EXPECT_EQ(all[std::size_t(child.leader)].parent, i);
        EXPECT_EQ(all[std::size_t(child.leader)].members, child.members);
        below += child.members.size();
      }
      EXPECT_EQ(below, f.members.size() - 1) << "position " << i << " of " << ranks;
    }
  }
}

}  // namespace
