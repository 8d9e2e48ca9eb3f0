// Balancers as functions: what every plan keeps, and how good they are where the best is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/base/random.hpp"
#include "plaq/collection/balance/balancers.hpp"
#include "plaq/collection/balance/protocol.hpp"
#include "plaq/collection/hilbert.hpp"

namespace plaq::balance {
namespace {

double uniform(unsigned seed, std::uint64_t index) {
  return unit_interval(random_words({.seed = seed, .purpose = 9}, index)[0]);
}

/// A mesh of n x n elements, in rows on the ranks, the load of which is a plume (seed 0) or drawn.
load_distribution mesh(int n, int ranks, unsigned seed) {
  load_distribution s{.ranks = ranks, .loads = {}, .rank_of = {}};
  s.ranks_per_node = 1 + int(seed % 4);
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const auto i = std::uint64_t(x + n * y);
      const double plume = 0.1 + 3 * std::exp(-8.0 * x / n) * std::exp(-20 * std::pow(double(y) / n - 0.5, 2));
      s.loads.push_back(seed == 0 ? plume : std::pow(uniform(seed, i), 3));
      s.rank_of.push_back(int(i * std::uint64_t(ranks) / std::uint64_t(n * n)));
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
        load_distribution s = mesh(8, ranks, seed);
        if (seed % 3 == 1) {  // little room
          const totals now(s, s.rank_of);
          s.most_bytes = 1.05 * *std::ranges::max_element(now.bytes);
        }
        if (seed % 3 == 2) std::ranges::fill(s.loads, seed % 2 ? 0.0 : 1.0);
        const plan to = b.call(s);
        ASSERT_EQ(to.size(), s.size());
        for (const int r : to) ASSERT_TRUE(r >= 0 && r < ranks);
        EXPECT_LE(evaluate(s, to).highest, evaluate(s, s.rank_of).highest) << b.name << ", seed " << seed;
        const totals after(s, to);
        for (const double bytes : after.bytes) EXPECT_LE(bytes, s.most_bytes) << b.name;
        EXPECT_EQ(b.call(s), to) << b.name;
      }
}

TEST(balancers, take_no_elements_and_no_load) {
  for (const balancer& b : balancers()) EXPECT_TRUE(b.call({.ranks = 3, .loads = {}, .rank_of = {}}).empty()) << b.name;
}

// The plume of particles beside a plate, 16 elements for each of 16 ranks.
TEST(balancers, spread_a_plume) {
  const load_distribution s = mesh(16, 16, 0);
  const auto before = evaluate(s, s.rank_of);
  EXPECT_GT(before.imbalance(), 0.9);
  const auto after = [&](std::string_view name) { return evaluate(s, balancer_named(name).call(s)); };
  EXPECT_EQ(after("none").imbalance(), before.imbalance());
  EXPECT_LT(after("longest_first").imbalance(), before.floor() + 0.01);
  EXPECT_LT(after("greedy_refine").imbalance(), before.floor() + 0.05);
  EXPECT_LT(after("refine").imbalance(), before.floor() + 0.05);
  EXPECT_LT(after("hilbert_refine").imbalance(), before.floor() + 0.05);
  EXPECT_LT(after("hierarchical").imbalance(), before.floor() + 0.3);
  EXPECT_LT(after("hilbert_cut").imbalance(), 0.3);
  EXPECT_LT(after("bisection").imbalance(), 0.6);
  EXPECT_LT(after("gossip").imbalance(), 0.25);
  EXPECT_LT(after("diffusion").imbalance(), 0.25);
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
    load_distribution s{.ranks = 3, .loads = {}, .rank_of = std::vector<int>(8, 0)};
    for (std::uint64_t i = 0; i < 8; ++i) s.loads.push_back(uniform(seed, i));
    double best = std::numeric_limits<double>::infinity();
    for (int code = 0; code < 6561; ++code) {
      plan to;
      for (int i = 0, rest = code; i < 8; ++i, rest /= 3) to.push_back(rest % 3);
      best = std::min(best, evaluate(s, to).highest);
    }
    EXPECT_LE(evaluate(s, longest_first(s)).highest, (4.0 / 3 - 1.0 / 9) * best * (1 + 1e-12));
    EXPECT_GE(evaluate(s, longest_first(s)).highest, best * (1 - 1e-12));
  }
}

// Half the work of a long row is on its first rank: load has to come through all the others.
TEST(balancers, diffusion_reaches_far) {
  load_distribution s{.ranks = 40, .loads = {}, .rank_of = {}};
  for (int r = 0; r < 40; ++r)
    for (int k = 0; k < (r ? 10 : 390); ++k) {
      s.loads.push_back(1);
      s.rank_of.push_back(r);
    }
  for (std::size_t i = 1; i < s.size(); ++i) s.edges.push_back({i - 1, i, 1});
  const auto after = evaluate(s, diffusion(s));
  EXPECT_GT(evaluate(s, s.rank_of).imbalance(), 15);
  EXPECT_LT(after.imbalance(), 0.5);
  // Without edges ranks are a ring, which is half as long.
  s.edges.clear();
  EXPECT_LT(evaluate(s, diffusion(s)).imbalance(), 0.3);
}

/// Returns the number of locations that ranks send each other in diffusion, those that they pass on included.
std::size_t locations_sent(const load_distribution& s) {
  std::deque<participant> ranks;
  for (int r = 0; r < s.ranks; ++r) ranks.push_back({.rank = r, .ranks = s.ranks, .local = {}});
  std::vector<std::vector<peer>> peers(s.size());
  for (const edge& e : s.edges) peers[e.a].push_back({e.b, s.rank_of[e.b], 0, e.weight});
  for (std::size_t i = 0; i < s.size(); ++i)
    ranks[std::size_t(s.rank_of[i])].local.push_back(
        {.id = i, .load = s.loads[i], .origin = s.rank_of[i], .peers = peers[i]});
  std::vector<coroutine> coroutines;
  for (participant& p : ranks) coroutines.push_back(run_protocol(p, diffusion_protocol));
  std::size_t sent = 0;
  for (bool running = true; running;) {
    std::vector<std::vector<protocol_message>> next(ranks.size());
    reduced_values reduced;
    running = false;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      running = coroutines[r].resume() || running;
      reduced.add(std::exchange(ranks[r].own, {}));
      for (protocol_message& m : std::exchange(ranks[r].outgoing, {})) {
        if (m.more) sent += m.more->updates.size();
        next[std::size_t(m.to)].push_back(std::move(m));
      }
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].reduced = reduced, ranks[r].incoming.swap(next[r]);
  }
  return sent;
}

// Elements that pass many ranks tell their peers where they stay, not each rank that they pass.
TEST(balancers, diffusion_sends_few_locations) {
  const auto of_row = [](int ranks) {
    load_distribution s{.ranks = ranks, .loads = {}, .rank_of = {}};
    for (int r = 0; r < ranks; ++r)
      for (int k = 0; k < (r ? 10 : 10 * ranks); ++k) {
        s.loads.push_back(1);
        s.rank_of.push_back(r);
      }
    for (std::size_t i = 1; i < s.size(); ++i) s.edges.push_back({i - 1, i, 1});
    return double(locations_sent(s)) / double(s.size());
  };
  EXPECT_LT(of_row(80), 1.1 * of_row(20));  // for each element
}

// What balancers say does not depend on how edges, or their ends, are ordered.
TEST(balancers, edges_have_no_direction) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const load_distribution s = mesh(8, 6, seed);
    load_distribution turned = s;
    for (edge& e : turned.edges) std::swap(e.a, e.b);
    std::ranges::reverse(turned.edges);
    for (const balancer& b : balancers()) EXPECT_EQ(b.call(turned), b.call(s)) << b.name << ", seed " << seed;
  }
}

// Loads in other units give the same plan, since only their ratios count.
TEST(balancers, units_of_loads_do_not_matter) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const load_distribution s = mesh(8, 6, seed);
    load_distribution scaled = s;
    for (double& load : scaled.loads) load *= 1024;
    for (const balancer& b : balancers()) EXPECT_EQ(b.call(scaled), b.call(s)) << b.name << ", seed " << seed;
  }
}

// Once more with what came of it: who is even stays so, and moves little.
TEST(balancers, a_second_call_is_not_worse_than_the_first) {
  for (const balancer& b : balancers())
    for (unsigned seed = 0; seed < 8; ++seed) {
      load_distribution s = mesh(8, 6, seed);
      s.rank_of = b.call(s);
      const auto once = evaluate(s, s.rank_of);
      const auto twice = evaluate(s, b.call(s));
      EXPECT_LE(twice.highest, once.highest) << b.name;
      if (b.name == "greedy_refine" || b.name == "refine") {
        EXPECT_LT(twice.moved, 0.3 * double(s.size())) << b.name << ", seed " << seed;
      }
    }
}

// Where one element has nearly all the load nothing helps, and it alone sets the floor.
TEST(balancers, one_element_that_is_too_large) {
  for (const balancer& b : balancers()) {
    load_distribution s = mesh(4, 4, 1);
    s.loads[5] = 100;
    const auto before = evaluate(s, s.rank_of), after = evaluate(s, b.call(s));
    EXPECT_GE(after.imbalance(), after.floor()) << b.name;
    EXPECT_EQ(after.floor(), before.floor());
    EXPECT_GT(after.floor(), 2.5);
    if (b.name == "longest_first" || b.name == "refine" || b.name == "greedy_refine") {
      EXPECT_NEAR(after.imbalance(), after.floor(), 1e-12) << b.name;
    }
  }
}

// A rank that holds more than it may keeps no more than before, and others fill up to the cap only.
TEST(balancers, a_cap_that_is_broken_already) {
  for (const balancer& b : balancers())
    for (unsigned seed = 1; seed < 8; ++seed) {
      load_distribution s = mesh(6, 3, seed);
      std::ranges::fill(s.rank_of, 0);
      const totals before(s, s.rank_of);
      s.most_bytes = 0.6 * before.bytes[0];
      const totals after(s, b.call(s));
      EXPECT_LE(after.bytes[0], before.bytes[0]);
      for (int r = 1; r < 3; ++r) EXPECT_LE(after.bytes[std::size_t(r)], s.most_bytes) << b.name << ", seed " << seed;
    }
}

TEST(balancers, hierarchical_refines_within_nodes) {
  load_distribution s = mesh(12, 12, 3);
  s.ranks_per_node = 4;
  const plan to = hierarchical(s);
  const auto order = detail::along_curve(s);
  // The curve is cut for nodes: along it, nodes do not come again.
  int node = 0;
  for (const std::size_t i : order) {
    EXPECT_GE(to[i] / 4, node);
    node = to[i] / 4;
  }
  EXPECT_EQ(node, 2);
  s.ranks_per_node = 12;
  EXPECT_LT(evaluate(s, hierarchical(s)).imbalance(), 0.1);
}

TEST(balancers, what_comes_of_a_plan) {
  const load_distribution s{
      .ranks = 3, .loads = {4, 1, 1}, .rank_of = {0, 0, 1}, .sizes = {10, 20, 30}, .edges = {{0, 1, 5}, {1, 2, 7}}};
  const auto o = evaluate(s, {0, 1, 1});
  EXPECT_EQ(o.highest, 4);
  EXPECT_EQ(o.mean, 2);
  EXPECT_EQ(o.largest, 4);
  EXPECT_EQ(o.moved, 1);
  EXPECT_EQ(o.moved_bytes, 20);
  EXPECT_EQ(o.cut, 5);
  EXPECT_EQ(o.imbalance(), 1);
  EXPECT_EQ(o.floor(), 1);
  totals t(s, s.rank_of);
  EXPECT_EQ(t.load, (std::vector<double>{5, 1, 0}));
  t.move(s, 1, 0, 2);
  EXPECT_EQ(t.load, (std::vector<double>{4, 1, 1}));
  EXPECT_EQ(t.bytes, (std::vector<double>{10, 30, 20}));
  EXPECT_EQ(t.highest(), 4);
}

TEST(balancers, refine_moves_to_who_is_talked_to) {
  // Rank 0 has too much. 3 talks to rank 2, and to nobody else.
  load_distribution s{.ranks = 4, .loads = {1, 1, 1, 1, 0.05, 0.05, 0.05}, .rank_of = {0, 0, 0, 0, 1, 2, 3}};
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
    EXPECT_EQ(std::string(e.what()).find("unknown balancer 'best'; allowed: none, longest_first, "), 0u);
  }
}

TEST(balancers, refuse_an_invalid_load_distribution) {
  const auto refused = [](load_distribution s) { EXPECT_THROW(refine(s), input_error); };
  refused({.ranks = 0, .loads = {}, .rank_of = {}});
  refused({.ranks = 2, .loads = {1}, .rank_of = {}});
  refused({.ranks = 2, .loads = {1}, .rank_of = {2}});
  refused({.ranks = 2, .loads = {-1}, .rank_of = {0}});
  refused({.ranks = 2, .loads = {std::nan("")}, .rank_of = {0}});
  refused({.ranks = 2, .loads = {1}, .rank_of = {0}, .sizes = {1, 2}});
  refused({.ranks = 2, .loads = {1}, .rank_of = {0}, .edges = {{0, 1, 1}}});
  refused({.ranks = 2, .loads = {1}, .rank_of = {0}, .edges = {{0, 0, -1}}});
  refused({.ranks = 2, .loads = {1}, .rank_of = {0}, .sizes = {-1}});
  refused({.ranks = 2, .loads = {1}, .rank_of = {0}, .positions = {1, 2}});
  refused({.ranks = 2, .loads = {1}, .rank_of = {0}, .points = {{}, {}}});
  refused({.ranks = 2, .loads = {1}, .rank_of = {0}, .most_bytes = -1});
  refused({.ranks = 2, .loads = {1}, .rank_of = {0}, .ranks_per_node = 0});
  const load_distribution bare{.ranks = 2, .loads = {1}, .rank_of = {0}};
  EXPECT_THROW(hilbert_cut(bare), input_error);
  EXPECT_THROW(bisection(bare), input_error);
}

}  // namespace
}  // namespace plaq::balance
