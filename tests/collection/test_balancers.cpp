// Balancers as functions: what every plan keeps, and how good they are where the best is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/base/random.hpp"
#include "plaq/collection/balance/balancers.hpp"
#include "plaq/collection/hilbert.hpp"

namespace plaq::balance {
namespace {

double uniform(unsigned seed, std::uint64_t index) { return unit_interval(random_words({.seed = seed, .purpose = 9}, index)[0]); }

/// A mesh of n x n elements, in rows on the ranks, the load of which is a plume (seed 0) or drawn.
situation mesh(int n, int ranks, unsigned seed) {
  situation s{.ranks = ranks, .loads = {}, .where = {}};
  s.ranks_per_node = 1 + int(seed % 4);
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const auto i = std::uint64_t(x + n * y);
      const double plume = 0.1 + 3 * std::exp(-8.0 * x / n) * std::exp(-20 * std::pow(double(y) / n - 0.5, 2));
      s.loads.push_back(seed == 0 ? plume : std::pow(uniform(seed, i), 3));
      s.where.push_back(int(i * std::uint64_t(ranks) / std::uint64_t(n * n)));
      s.sizes.push_back(1 + uniform(seed, 10000 + i));
      s.positions.push_back(elements::hilbert_position<2>({x, y}, {n, n}));
      s.points.push_back({double(x), double(y), 0});
      if (x > 0) s.edges.push_back({i, i - 1, 1});
      if (y > 0) s.edges.push_back({i, i - std::uint64_t(n), 1});
    }
  return s;
}

TEST(balancers, keep_all_elements_and_the_cap_and_are_never_worse) {
  for (const balancer& b : balancers())
    for (unsigned seed = 0; seed < 12; ++seed)
      for (const int ranks : {1, 2, 5, 16, 70}) {
        situation s = mesh(8, ranks, seed);
        if (seed % 3 == 1) {  // little room
          const totals now(s, s.where);
          s.most_bytes = 1.05 * *std::ranges::max_element(now.bytes);
        }
        if (seed % 3 == 2) std::ranges::fill(s.loads, seed % 2 ? 0.0 : 1.0);
        const plan to = b.call(s);
        ASSERT_EQ(to.size(), s.size());
        for (const int r : to) ASSERT_TRUE(r >= 0 && r < ranks);
        EXPECT_LE(judge(s, to).highest, judge(s, s.where).highest) << b.name << ", seed " << seed;
        const totals after(s, to);
        for (const double bytes : after.bytes) EXPECT_LE(bytes, s.most_bytes) << b.name;
        EXPECT_EQ(b.call(s), to) << b.name;
      }
}

TEST(balancers, take_no_elements_and_no_load) {
  for (const balancer& b : balancers()) EXPECT_TRUE(b.call({.ranks = 3, .loads = {}, .where = {}}).empty()) << b.name;
}

// The plume of particles beside a plate, 16 elements for each of 16 ranks.
TEST(balancers, spread_a_plume) {
  const situation s = mesh(16, 16, 0);
  const auto before = judge(s, s.where);
  EXPECT_GT(before.imbalance(), 0.9);
  const auto after = [&](std::string_view name) { return judge(s, balancer_named(name).call(s)); };
  EXPECT_EQ(after("none").imbalance(), before.imbalance());
  EXPECT_LT(after("longest_first").imbalance(), before.floor() + 0.01);
  EXPECT_LT(after("greedy_refine").imbalance(), before.floor() + 0.05);
  EXPECT_LT(after("refine").imbalance(), before.floor() + 0.05);
  EXPECT_LT(after("hilbert_refine").imbalance(), before.floor() + 0.05);
  EXPECT_LT(after("hierarchical").imbalance(), before.floor() + 0.3);
  EXPECT_LT(after("hilbert_cut").imbalance(), 0.3);
  EXPECT_LT(after("bisection").imbalance(), 0.6);
  EXPECT_LT(after("gossip").imbalance(), 0.25);
  EXPECT_LT(after("diffusion").imbalance(), before.imbalance() / 2);
  // What is said of them.
  EXPECT_LT(after("greedy_refine").moved, 0.7 * after("longest_first").moved);
  EXPECT_LT(after("refine").cut, 1.2 * before.cut);
  EXPECT_GT(after("greedy_refine").cut, 1.2 * before.cut);
  EXPECT_LT(after("hilbert_cut").cut, 0.5 * after("longest_first").cut);
  EXPECT_LT(after("bisection").cut, 0.5 * after("longest_first").cut);
}

/// The least that the largest of so many parts of a line can be.
double best_cut(const std::vector<double>& loads, int parts) {
  const std::size_t n = loads.size();
  std::vector<double> least(n + 1, std::numeric_limits<double>::infinity());
  least[0] = 0;
  for (int p = 0; p < parts; ++p) {
    auto next = least;
    for (std::size_t end = 1; end <= n; ++end) {
      double part = 0;
      for (std::size_t begin = 0; begin < end; ++begin) {
        part = 0;
        for (std::size_t i = begin; i < end; ++i) part += loads[i];
        next[end] = std::min(next[end], std::max(least[begin], part));
      }
    }
    least = next;
  }
  return least[n];
}

TEST(balancers, cut_a_line_as_well_as_can_be) {
  for (unsigned seed = 1; seed < 60; ++seed) {
    std::vector<double> loads;
    for (std::uint64_t i = 0; i < 1 + seed % 17; ++i) loads.push_back(seed % 4 ? uniform(seed, i) : double(i % 3));
    for (const int parts : {1, 2, 3, 6}) {
      const auto of = detail::cut(loads, parts);
      std::vector<double> sums(std::size_t(parts), 0);
      for (std::size_t i = 0; i < loads.size(); ++i) sums[std::size_t(of[i])] += loads[i];
      EXPECT_DOUBLE_EQ(*std::ranges::max_element(sums), best_cut(loads, parts)) << "seed " << seed << ", " << parts;
      EXPECT_TRUE(std::ranges::is_sorted(of));
    }
  }
}

// Graham's bound against what is possible at best, by trying all.
TEST(balancers, longest_first_keeps_its_bound) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    situation s{.ranks = 3, .loads = {}, .where = std::vector<int>(8, 0)};
    for (std::uint64_t i = 0; i < 8; ++i) s.loads.push_back(uniform(seed, i));
    double best = std::numeric_limits<double>::infinity();
    for (int code = 0; code < 6561; ++code) {
      plan to;
      for (int i = 0, rest = code; i < 8; ++i, rest /= 3) to.push_back(rest % 3);
      best = std::min(best, judge(s, to).highest);
    }
    EXPECT_LE(judge(s, longest_first(s)).highest, (4.0 / 3 - 1.0 / 9) * best * (1 + 1e-12));
    EXPECT_GE(judge(s, longest_first(s)).highest, best * (1 - 1e-12));
  }
}

TEST(balancers, refine_moves_to_who_is_talked_to) {
  // Rank 0 has too much. 3 talks to rank 2, and to nobody else.
  situation s{.ranks = 4, .loads = {1, 1, 1, 1, 0.05, 0.05, 0.05}, .where = {0, 0, 0, 0, 1, 2, 3}};
  s.edges = {{0, 1, 1}, {1, 2, 1}, {3, 5, 1}};
  const plan to = refine(s);
  EXPECT_EQ(to[3], 2);
}

TEST(balancers, are_known_by_name) {
  EXPECT_EQ(balancer_named("refine").call, refine);
  try {
    balancer_named("best");
    FAIL();
  } catch (const input_error& e) {
    EXPECT_EQ(std::string(e.what()).find("there is no balancer 'best'; there are none, longest_first, "), 0u);
  }
}

TEST(balancers, refuse_what_is_no_situation) {
  const auto refused = [](situation s) { EXPECT_THROW(refine(s), input_error); };
  refused({.ranks = 0, .loads = {}, .where = {}});
  refused({.ranks = 2, .loads = {1}, .where = {}});
  refused({.ranks = 2, .loads = {1}, .where = {2}});
  refused({.ranks = 2, .loads = {-1}, .where = {0}});
  refused({.ranks = 2, .loads = {std::nan("")}, .where = {0}});
  refused({.ranks = 2, .loads = {1}, .where = {0}, .sizes = {1, 2}});
  refused({.ranks = 2, .loads = {1}, .where = {0}, .edges = {{0, 1, 1}}});
  const situation bare{.ranks = 2, .loads = {1}, .where = {0}};
  EXPECT_THROW(hilbert_cut(bare), input_error);
  EXPECT_THROW(bisection(bare), input_error);
}

}  // namespace
}  // namespace plaq::balance
