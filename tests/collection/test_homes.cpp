// Boxes, their neighbours, and which rank an index is at home on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "plaq/collection/homes.hpp"

namespace plaq {
namespace {

using elements::hilbert_point;
using elements::hilbert_position;

template <std::size_t N>
void expect_a_curve(const std::array<int, N>& extent, bool without_jumps) {
  const auto n = std::accumulate(extent.begin(), extent.end(), std::uint64_t(1), std::multiplies<>());
  std::set<std::array<int, N>> seen;
  std::array<int, N> before{};
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto x = hilbert_point(i, extent);
    EXPECT_EQ(hilbert_position(x, extent), i);
    int apart = 0;
    for (std::size_t d = 0; d < N; ++d) {
      EXPECT_GE(x[d], 0);
      EXPECT_LT(x[d], extent[d]);
      apart += std::abs(x[d] - before[d]);
    }
    if (i > 0 && without_jumps) {
      EXPECT_EQ(apart, 1) << i;
    }
    before = x;
    seen.insert(x);
  }
  EXPECT_EQ(seen.size(), n);
}

TEST(hilbert, meets_every_point_once_and_neighbours_in_turn) {
  expect_a_curve<1>({8}, true);
  expect_a_curve<2>({1, 1}, true);
  expect_a_curve<2>({16, 16}, true);
  expect_a_curve<3>({8, 8, 8}, true);
  expect_a_curve<1>({11}, true);
  expect_a_curve<2>({5, 12}, false);
  expect_a_curve<2>({1, 7}, false);
  expect_a_curve<3>({3, 1, 9}, false);
}

template <class Index>
void expect_a_partition(const homes<Index>& where, std::uint64_t n, bool equal) {
  for (const int ranks : {1, 2, 3, 7, 100}) {
    std::set<Index> seen;
    for (int r = 0; r < ranks; ++r) {
      std::uint64_t count = 0;
      where.each_of_rank(
          [&](const Index& at) {
            ++count;
            EXPECT_EQ(where.rank_of(at, ranks), r);
            EXPECT_TRUE(where.holds(at));
            EXPECT_TRUE(seen.insert(at).second);
          },
          r, ranks);
      if (equal) {
        EXPECT_LE(count, n / std::uint64_t(ranks) + 1);
        EXPECT_GE(count, n / std::uint64_t(ranks));
      }
    }
    EXPECT_EQ(seen.size(), n);
    EXPECT_EQ(where.count, n);
  }
}

TEST(homes, give_every_element_to_one_rank) {
  expect_a_partition(row_homes(box(37)), 37, true);
  expect_a_partition(row_homes(box(index2{6, 5})), 30, true);
  expect_a_partition(hilbert_homes(box(index2{6, 5})), 30, true);
  expect_a_partition(hilbert_homes(box(index3{4, 3, 5})), 60, true);
  expect_a_partition(homes_by_rule(box(index2{4, 4}), [](index2 at, int ranks) { return (at.x + 3 * at.y) % ranks; }),
                     16, false);
}

TEST(homes, rows_run_along_x) {
  const auto rows = row_homes(box(index3{4, 3, 2}));
  EXPECT_EQ(rows.position({1, 0, 0}), 1u);
  EXPECT_EQ(rows.position({0, 1, 0}), 4u);
  EXPECT_EQ(rows.position({3, 2, 1}), 23u);
}

TEST(homes, scatter_keys_evenly) {
  const auto where = hashed_homes<std::uint64_t>();
  std::map<int, int> count;
  for (std::uint64_t k = 0; k < 4000; ++k) ++count[where.rank_of(k << 20, 4)];
  for (int r = 0; r < 4; ++r) EXPECT_NEAR(count[r], 1000, 150);
}

TEST(box, knows_who_lies_beside_whom) {
  const box open(index2{3, 2});
  EXPECT_EQ(open.neighbours({0, 0}).size(), 3u);
  EXPECT_EQ(open.neighbours({1, 0}).size(), 5u);
  EXPECT_EQ(open.faces({1, 0}).size(), 3u);
  const box<index3> closed({3, 1, 2}, true);
  const auto all = closed.neighbours({2, 0, 1});
  EXPECT_EQ(all.size(), 26u);
  for (const auto& n : all) {  // who lies there has me on the other side
    bool back = false;
    for (const auto& m : closed.neighbours(n.at))
      back |= m.at == index3{2, 0, 1} && m.shift.x == -n.shift.x && m.shift.y == -n.shift.y && m.shift.z == -n.shift.z;
    EXPECT_TRUE(back);
  }
  EXPECT_EQ(box<int>(5, true).faces(0)[0].at, 4);
  EXPECT_THROW(box(index2{0, 3}), input_error);
}

TEST(index, has_a_key_of_its_own) {
  std::set<elements::key> keys;
  for (int x : {0, 1, 1 << 20})
    for (int y : {0, 1, 1 << 20})
      for (int z : {0, 1, 1 << 20}) {
        const index3 at{x, y, z};
        const auto k = elements::index_traits<index3>::to_key(at);
        EXPECT_EQ(elements::index_traits<index3>::from_key(k), at);
        keys.insert(k);
      }
  EXPECT_EQ(keys.size(), 27u);
  EXPECT_THROW(elements::index_traits<index3>::to_key({1 << 21, 0, 0}), input_error);
  EXPECT_THROW(elements::index_traits<int>::to_key(-1), input_error);
  EXPECT_EQ(elements::index_traits<index2>::in_words({3, 4}), "3, 4");
}

}  // namespace
}  // namespace plaq
