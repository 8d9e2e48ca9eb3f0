// Blocks of any length among real ranks: each rank compares with what it can compute alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::message_of;
using test::world;

using counts_t = std::vector<std::size_t>;

/// Number of values from rank r to rank s in case `seed`, often none.
std::size_t length(int r, int s, unsigned seed) {
  std::mt19937 random(seed + 97 * unsigned(r) + 10007 * unsigned(s));
  return random() % 3 == 0 ? 0 : random() % 30;
}
std::vector<std::int64_t> values(int r, int s, unsigned seed) {
  std::vector<std::int64_t> x(length(r, s, seed));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1000000 * r + 1000 * s + std::int64_t(i);
  return x;
}
template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

TEST(uneven_blocks, go_from_all_to_all) {
  collectives c(world());
  const int p = c.size(), me = c.rank();
  for (unsigned seed = 0; seed < 8; ++seed) {
    counts_t to(p), from(p);
    std::vector<std::int64_t> own, expected;
    for (int r = 0; r < p; ++r) {
      append(own, values(me, r, seed));
      append(expected, values(r, me, seed));
      to[r] = length(me, r, seed);
      from[r] = length(r, me, seed);
    }
    std::vector<std::int64_t> all(expected.size()), later(expected.size());
    auto ready = c.iall_to_all(own, to, later, from);
    c.all_to_all(own, to, all, from);
    ready.get();
    EXPECT_EQ(all, expected);
    EXPECT_EQ(later, expected);
    const auto found = c.all_to_all_any(own, to);
    EXPECT_EQ(found.values, expected);
    for (int r = 0; r < p; ++r) EXPECT_TRUE(std::ranges::equal(found.from(r), values(r, me, seed)));
  }
}

TEST(uneven_blocks, are_exchanged_often_by_one_call) {
  collectives c(world());
  const int p = c.size(), me = c.rank(), left = (me + p - 1) % p, right = (me + 1) % p;
  std::vector<int> own(3), halo(3);
  const counts_t ones(p, 1);
  std::vector<int> mine(p), all(p);
  auto around = c.prepare_exchange(own, {{left, 1}, {right, 2}}, halo, {{right, 1}, {left, 2}});
  auto turn = c.prepare_all_to_all(mine, ones, all, ones);
  for (int round = 0; round < 5; ++round) {
    own = {10 * me + round, me, round};
    for (int r = 0; r < p; ++r) mine[r] = 100 * me + r + round;
    auto ready = around.start();
    turn.run();
    ready.get();
    EXPECT_EQ(halo, (std::vector{10 * right + round, left, round}));
    for (int r = 0; r < p; ++r) EXPECT_EQ(all[r], 100 * r + me + round);
  }
}

// Schedules are kept, more of them than there is room for.
TEST(uneven_blocks, are_exchanged_in_many_ways_by_turns) {
  collectives c(world());
  const int p = c.size(), me = c.rank(), left = (me + p - 1) % p, right = (me + 1) % p;
  for (int round = 0; round < 3; ++round)
    for (std::size_t n = 1; n < 12; ++n) {
      const std::vector<int> own(n, 100 * me + int(n) + round);
      std::vector<int> halo(n);
      c.exchange(own, {{right, n}}, halo, {{left, n}});
      EXPECT_EQ(halo, std::vector<int>(n, 100 * left + int(n) + round));
      const std::vector<std::int64_t> wide(n, me);
      std::vector<std::int64_t> wide_halo(n);
      c.exchange(wide, {{right, n}}, wide_halo, {{left, n}});
      EXPECT_EQ(wide_halo, std::vector<std::int64_t>(n, left));
    }
}

TEST(uneven_blocks, are_scattered) {
  for (const int arity : {2, 16}) {
    collectives c(world(), {false, method{algorithm::tree, arity, 0}});
    for (unsigned seed = 0; seed < 8; ++seed) {
      const int root = int(seed) % c.size();
      counts_t counts;
      std::vector<std::int64_t> all;
      for (int r = 0; r < c.size() && c.rank() == root; ++r) {
        counts.push_back(length(root, r, seed));
        append(all, values(root, r, seed));
      }
      EXPECT_EQ(c.scatter_any(all, counts, root), values(root, c.rank(), seed));
    }
  }
}

TEST(uneven_blocks, are_reduced_in_a_fixed_order_by_every_algorithm) {
  const int p = world().size(), me = world().rank();
  for (unsigned seed = 0; seed < 8; ++seed) {
    counts_t counts;
    std::size_t first = 0, total = 0;
    for (int r = 0; r < p; ++r) {
      counts.push_back(length(r, r, seed));
      if (r < me) first += counts.back();
      total += counts.back();
    }
    std::vector<double> whole = test::numbers(int(seed) + 100 * me, total);
    const auto own = whole;
    collectives reference(world(), {true, {}});
    reference.all_reduce(whole, operation::sum);
    const std::vector<double> expected(whole.begin() + std::ptrdiff_t(first),
                                       whole.begin() + std::ptrdiff_t(first + counts[me]));
    for (const auto& by : {method{algorithm::direct}, method{algorithm::tree, 2, 0}, method{algorithm::tree, 3, 40}}) {
      collectives c(world(), {true, by});
      std::vector<double> block(counts[me]), later(counts[me]);
      auto ready = c.ireduce_scatter(own, counts, later, operation::sum);
      c.reduce_scatter(own, counts, block, std::plus<double>());
      ready.get();
      EXPECT_EQ(block, expected);
      EXPECT_EQ(later, expected);
    }
  }
}

TEST(uneven_blocks, of_equal_length_are_reduced_too) {
  collectives c(world());
  const int p = c.size(), me = c.rank();
  for (const std::size_t n : {0, 1, 1000}) {
    std::vector<std::int64_t> own(n * p), block(n, -1), later(n, -1);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = std::int64_t(i) * (me + 1);
    auto ready = c.ireduce_scatter(own, later, operation::sum);
    c.reduce_scatter(own, block, operation::sum);
    ready.get();
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(block[i], std::int64_t(n * me + i) * p * (p + 1) / 2);
    EXPECT_EQ(later, block);
  }
}

TEST(uneven_blocks, pass_between_neighbours_that_may_be_the_same_rank) {
  collectives c(world());
  const int p = c.size(), me = c.rank(), left = (me + p - 1) % p, right = (me + 1) % p;
  // On two ranks left and right are the same rank, on one rank this one: the block for the left arrives from the right.
  const std::vector<int> own{10 * me, 10 * me + 1, 10 * me + 2};
  std::vector<int> all(3), later(3);
  auto ready = c.iexchange(own, {{left, 1}, {right, 2}}, later, {{right, 1}, {left, 2}});
  c.exchange(own, {{left, 1}, {right, 2}}, all, {{right, 1}, {left, 2}});
  ready.get();
  EXPECT_EQ(all, (std::vector<int>{10 * right, 10 * left + 1, 10 * left + 2}));
  EXPECT_EQ(later, all);
  c.exchange(std::vector<int>(), {}, std::vector<int>(), {});
}

TEST(uneven_blocks, find_receivers_that_do_not_expect_them) {
  collectives c(world());
  const int p = c.size(), me = c.rank();
  // Every rank can compute the blocks of all: a few, two of them for the same rank.
  const auto blocks_of = [&](int r, unsigned seed) {
    std::mt19937 random(seed * 1000 + unsigned(r));
    std::vector<neighbour> to;
    for (unsigned k = random() % 4; k > 0; --k) to.push_back({int(random() % unsigned(p)), random() % 5});
    if (!to.empty()) to.push_back(to.front());
    return to;
  };
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::vector<int> own, expected;
    std::vector<neighbour> from;
    for (int r = 0; r < p; ++r) {
      const auto to = blocks_of(r, seed);
      for (std::size_t b = 0; b < to.size(); ++b) {
        const std::vector<int> block(to[b].count, 100 * r + int(b));
        if (r == me) append(own, block);
        if (to[b].rank != me || to[b].count == 0) continue;
        append(expected, block);
        from.push_back({r, to[b].count});
      }
    }
    const auto found = c.exchange_any(own, blocks_of(me, seed));
    EXPECT_EQ(found.from, from);
    EXPECT_EQ(found.values, expected);
  }
}

TEST(uneven_blocks, refuse_what_cannot_be) {
  collectives c(world());
  const auto p = std::size_t(c.size());
  const auto refused = [](auto&& call) { return message_of<plaq::input_error>(call); };
  std::vector<int> x(3), y(3 * p);
  const counts_t ones(p, 1), few(p + 1, 1);
  EXPECT_EQ(refused([&] { c.all_to_all(y, ones, y, ones); }),
            "all_to_all: a buffer has " + std::to_string(3 * p) + " values instead of " + std::to_string(p));
  EXPECT_EQ(refused([&] { c.all_to_all_any(x, few); }),
            "all_to_all_any: a buffer has " + std::to_string(p + 1) + " values instead of " + std::to_string(p));
  EXPECT_EQ(refused([&] { c.reduce_scatter(y, few, x, operation::sum); }),
            "reduce_scatter: a buffer has " + std::to_string(p + 1) + " values instead of " + std::to_string(p));
  EXPECT_EQ(refused([&] { c.exchange(x, {{c.size(), 3}}, x, {{0, 3}}); }),
            "there is no rank " + std::to_string(p) + " among " + std::to_string(p));
  EXPECT_EQ(refused([&] { c.exchange_any(x, {{-1, 3}}); }), "there is no rank -1 among " + std::to_string(p));
  const auto me = std::to_string(c.rank());
  EXPECT_EQ(refused([&] { c.exchange(x, {{c.rank(), 3}}, y, {{c.rank(), 3 * p - 1}, {c.rank(), 1}}); }),
            "rank " + me + " sends 12 bytes to itself and receives " + std::to_string(12 * p - 4));
  EXPECT_EQ(refused([&] { c.exchange(x, {{c.rank(), 3}}, std::vector<int>(), {}); }),
            "rank " + me + " sends 12 bytes to itself and does not receive them");
  c.barrier();
}

TEST(uneven_blocks, of_other_lengths_than_expected_name_the_call) {
  if (world().size() < 2) return;
  // A message that is too long for its receiver ends at once; the others are as they should be.
  collectives c(world());
  const bool sends = c.rank() == 1, receives = c.rank() == 0;
  std::vector<int> own(sends ? 3 : 0), all(receives ? 2 : 0);
  const auto to = sends ? std::vector<neighbour>{{0, 3}} : std::vector<neighbour>{};
  const auto from = receives ? std::vector<neighbour>{{1, 2}} : std::vector<neighbour>{};
  if (!receives) return c.exchange(own, to, all, from);
  const auto told = message_of<plaq::runtime_failure>([&] { c.exchange(own, to, all, from); });
  EXPECT_TRUE(told.starts_with("rank 0: receive from rank 1: ")) << told;
  EXPECT_NE(told.find("; in exchange, which all ranks must call with the same arguments"), std::string::npos) << told;
}

}  // namespace
