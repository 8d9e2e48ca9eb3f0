// Indices as numbers, boxes and who is whose neighbour in them, and what a balancer is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "plaq/collection/balance/load_distribution.hpp"
#include "plaq/collection/box.hpp"

namespace plaq {
namespace {

using elements::index_traits;

template <class Index>
void expect_own_key(const Index& at, std::set<elements::key>& seen) {
  const auto k = index_traits<Index>::to_key(at);
  EXPECT_EQ(index_traits<Index>::from_key(k), at) << index_traits<Index>::in_words(at);
  EXPECT_TRUE(seen.insert(k).second) << index_traits<Index>::in_words(at);
}

TEST(index, is_one_number_and_back) {
  std::mt19937 random(2);
  std::set<elements::key> one, two, three;
  constexpr int most = std::numeric_limits<int>::max(), most_of_three = (1 << 21) - 1;
  std::set<int> lines{0, 1, most};
  std::set<index2> planes{{0, 0}, {most, 0}, {0, most}, {most, most}};
  std::set<index3> spaces{{0, 0, 0}, {most_of_three, 0, 0}, {0, most_of_three, 0}, {0, 0, most_of_three}};
  for (int i = 0; i < 500; ++i) {
    lines.insert(int(random() >> 1));
    planes.insert({int(random() % 50), int(random() >> 1)});
    spaces.insert({int(random() % 9), int(random() % 9), int(random() % (most_of_three + 1))});
  }
  for (const int at : lines) expect_own_key(at, one);
  for (const auto& at : planes) expect_own_key(at, two);
  for (const auto& at : spaces) expect_own_key(at, three);
  EXPECT_EQ(index_traits<std::uint64_t>::from_key(~std::uint64_t(0)), ~std::uint64_t(0));
}

TEST(index, outside_of_what_has_a_number_is_named) {
  const auto refused = [](const auto& at) {
    try {
      index_traits<std::decay_t<decltype(at)>>::to_key(at);
      return std::string();
    } catch (const input_error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(refused(3), "");
  EXPECT_EQ(refused(-1), "the index (-1) has a coordinate that is not within 0 ... 2^31 - 1");
  EXPECT_EQ(refused(index2{4, -7}), "the index (4, -7) has a coordinate that is not within 0 ... 2^31 - 1");
  EXPECT_EQ(refused(index3{0, 1 << 21, 0}),
            "the index (0, 2097152, 0) has a coordinate that is not within 0 ... 2^21 - 1");
}

template <class Index>
std::vector<Index> all_of(const box<Index>& b) {
  std::vector<Index> out;
  const auto end = index_traits<Index>::point(b.extent());
  std::array<int, box<Index>::dimensions> x{};
  for (;;) {
    out.push_back(index_traits<Index>::at(x));
    std::size_t d = 0;
    while (d < x.size() && ++x[d] == end[d]) x[d++] = 0;
    if (d == x.size()) return out;
  }
}

/// Whoever lies at a shift from me has me at the opposite one; shifts are all different.
template <class Index>
void expect_neighbours(const box<Index>& b) {
  using traits = index_traits<Index>;
  constexpr int N = int(box<Index>::dimensions);
  const auto all = all_of(b);
  EXPECT_EQ(all.size(), b.size());
  for (const bool faces : {true, false}) {
    const auto around = [&](const Index& at) { return faces ? b.faces(at) : b.neighbours(at); };
    for (const Index& at : all) {
      EXPECT_TRUE(b.holds(at));
      std::set<decltype(traits::point(at))> shifts;
      for (const auto& n : around(at)) {
        const auto shift = traits::point(n.shift);
        EXPECT_TRUE(b.holds(n.at));
        EXPECT_TRUE(shifts.insert(shift).second);
        int moved = 0;
        for (const int s : shift) {
          EXPECT_LE(std::abs(s), 1);
          moved += s != 0;
        }
        EXPECT_GE(moved, 1);
        EXPECT_LE(moved, faces ? 1 : N);
        const auto back = around(n.at);
        EXPECT_EQ(std::ranges::count_if(back,
                                        [&](const auto& other) {
                                          auto opposite = traits::point(other.shift);
                                          for (int& s : opposite) s = -s;
                                          return other.at == at && opposite == shift;
                                        }),
                  1)
            << traits::in_words(at);
      }
      if (b.periodic()) {
        EXPECT_EQ(shifts.size(), std::size_t(faces ? 2 * N : std::pow(3, N) - 1)) << "no border anywhere";
      }
    }
  }
}

TEST(box, has_neighbours_that_agree_about_it) {
  for (const bool periodic : {false, true}) {
    for (const int n : {1, 2, 3, 7}) expect_neighbours(box<int>(n, periodic));
    for (const index2 n : {index2{1, 1}, {1, 5}, {2, 2}, {2, 3}, {4, 5}}) expect_neighbours(box<index2>(n, periodic));
    for (const index3 n : {index3{1, 1, 1}, {1, 2, 3}, {2, 2, 2}, {3, 4, 3}})
      expect_neighbours(box<index3>(n, periodic));
  }
}

TEST(box, has_as_many_as_its_borders_leave) {
  const box<index3> b({4, 4, 4});
  EXPECT_EQ(b.faces({1, 2, 1}).size(), 6u);
  EXPECT_EQ(b.neighbours({1, 2, 1}).size(), 26u);
  EXPECT_EQ(b.faces({0, 0, 0}).size(), 3u);
  EXPECT_EQ(b.neighbours({0, 0, 0}).size(), 7u);
  EXPECT_EQ(b.neighbours({0, 3, 1}).size(), 11u);
  EXPECT_FALSE(b.holds({4, 0, 0}));
  EXPECT_FALSE(b.holds({0, 0, -1}));
  EXPECT_EQ(box<index2>({3, 1}, true).faces({0, 0})[0].at, (index2{0, 0})) << "its own neighbour";
}

TEST(box, of_nothing_is_refused) {
  EXPECT_THROW(box<int>(0), input_error);
  EXPECT_THROW(box<index2>({3, -1}), input_error);
  EXPECT_THROW(box<index3>({1 << 22, 1, 1}), input_error);
  EXPECT_EQ(box<index2>({1 << 30, 1 << 30}).size(), std::uint64_t(1) << 60);
}

namespace bal = balance;

bal::load_distribution some(int ranks, std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  bal::load_distribution s;
  s.ranks = ranks;
  for (std::size_t i = 0; i < n; ++i) {
    s.loads.push_back(double(random() % 1000) / 16);
    s.rank_of.push_back(int(random() % unsigned(ranks)));
    s.sizes.push_back(double(random() % 64));
    s.positions.push_back(i);
    s.points.push_back({double(i), 0, 0});
  }
  for (std::size_t i = 0; i + 1 < n; ++i) s.edges.push_back({i, random() % n, double(random() % 8)});
  return s;
}

TEST(situation, that_cannot_be_is_refused_with_the_reason) {
  struct wrong {
    std::function<void(bal::load_distribution&)> how;
    const char* words;
  };
  const wrong all[] = {
      {[](auto& s) { s.ranks = 0; }, "must be at least 1"},
      {[](auto& s) { s.ranks_per_node = 0; }, "must be at least 1"},
      {[](auto& s) { s.rank_of.pop_back(); }, "9 ranks of elements"},
      {[](auto& s) { s.rank_of.clear(); }, "0 ranks of elements"},
      {[](auto& s) { s.sizes.push_back(1); }, "11 sizes"},
      {[](auto& s) { s.positions.pop_back(); }, "9 positions"},
      {[](auto& s) { s.points.pop_back(); }, "9 points"},
      {[](auto& s) { s.loads[3] = -0.5; }, "a load is -0.5"},
      {[](auto& s) { s.loads[3] = std::nan(""); }, "a load is"},
      {[](auto& s) { s.loads[3] = std::numeric_limits<double>::infinity(); }, "a load is inf"},
      {[](auto& s) { s.rank_of[2] = 4; }, "on rank 4 of 4"},
      {[](auto& s) { s.rank_of[2] = -1; }, "on rank -1 of 4"},
      {[](auto& s) { s.edges[0].a = 10; }, "an edge"},
      {[](auto& s) { s.edges[0].b = 10; }, "an edge"},
      {[](auto& s) { s.edges[0].weight = -1; }, "an edge"},
      {[](auto& s) { s.edges[0].weight = std::nan(""); }, "an edge"},
  };
  for (const wrong& w : all) {
    auto s = some(4, 10, 1);
    EXPECT_NO_THROW(bal::validate(s));
    w.how(s);
    try {
      bal::validate(s);
      ADD_FAILURE() << w.words;
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find(w.words), std::string::npos) << e.what();
    }
  }
  auto bare = some(4, 10, 1);
  bare.sizes.clear(), bare.positions.clear(), bare.points.clear(), bare.edges.clear();
  EXPECT_NO_THROW(bal::validate(bare)) << "what nobody knows";
  EXPECT_NO_THROW(bal::validate(some(3, 0, 1))) << "no elements at all";
}

// Moved one by one, against totals of the plan that comes of it; loads are sixteenths, so sums are exact.
TEST(totals, follow_every_move) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto s = some(5, 60, seed);
    std::mt19937 random(seed);
    bal::plan to = s.rank_of;
    bal::totals now(s, to);
    for (int step = 0; step < 200; ++step) {
      const std::size_t i = random() % s.size();
      const int next = int(random() % 5);
      now.move(s, i, to[i], next);
      to[i] = next;
      const bal::totals fresh(s, to);
      ASSERT_EQ(now.load, fresh.load);
      ASSERT_EQ(now.bytes, fresh.bytes);
      ASSERT_EQ(now.highest(), *std::ranges::max_element(fresh.load));
    }
    const auto sum = [](const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.); };
    EXPECT_EQ(sum(now.load), sum(s.loads));
  }
}

TEST(totals, know_what_fits) {
  auto s = some(2, 3, 1);
  s.sizes = {10, 20, 30};
  s.rank_of = {0, 0, 1};
  s.most_bytes = 50;
  const bal::totals now(s, s.rank_of);
  EXPECT_TRUE(now.has_room(s, 1, 1)) << "to the last byte";
  s.most_bytes = 49;
  EXPECT_FALSE(now.has_room(s, 1, 1));
  EXPECT_TRUE(now.has_room(s, 0, 1));
}

TEST(outcome, is_what_can_be_counted) {
  for (unsigned seed = 11; seed <= 15; ++seed) {
    const auto s = some(4, 40, seed);
    const auto other = some(4, 40, seed + 100);
    const bal::plan& to = other.rank_of;
    const auto found = bal::evaluate(s, to);
    std::map<int, double> load;
    double moved = 0, bytes = 0, cut = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      load[to[i]] += s.loads[i];
      moved += to[i] != s.rank_of[i];
      bytes += to[i] != s.rank_of[i] ? s.sizes[i] : 0;
    }
    for (const auto& e : s.edges) cut += to[e.a] != to[e.b] ? e.weight : 0;
    double highest = 0;
    for (const auto& [rank, sum] : load) highest = std::max(highest, sum);
    EXPECT_EQ(found.highest, highest);
    EXPECT_EQ(found.moved, moved);
    EXPECT_EQ(found.moved_bytes, bytes);
    EXPECT_EQ(found.cut, cut);
    EXPECT_DOUBLE_EQ(found.imbalance(), highest / found.mean - 1);
    EXPECT_GE(found.imbalance(), found.floor());
    EXPECT_EQ(bal::evaluate(s, s.rank_of).moved, 0);
  }
  bal::load_distribution idle;
  idle.ranks = 3;
  idle.loads = {0, 0};
  idle.rank_of = {0, 2};
  const auto nothing = bal::evaluate(idle, idle.rank_of);
  EXPECT_EQ(nothing.imbalance(), 0);
  EXPECT_EQ(nothing.floor(), 0);
  idle.loads = {6, 0};
  EXPECT_EQ(bal::evaluate(idle, idle.rank_of).floor(), 2) << "one element is all there is: no plan is better";
}

}  // namespace
}  // namespace plaq
