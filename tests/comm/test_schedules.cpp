// Every collective operation, by every algorithm, against a loop over all ranks; ranks live in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "memory_network.hpp"
#include "plaq/base/error.hpp"

namespace {

using namespace plaq::comm;
using plaq::comm::test::run_in_memory;

using engine_t = std::mt19937;

/// One random case of an operation.
struct setting {
  int ranks;
  std::size_t n;  // values of a block
  request wanted;
  method by;
  node_map map{1};
};

std::vector<int> random_nodes(engine_t& random, int ranks) {
  std::vector<int> node(ranks);
  const int nodes = 1 + int(random() % 5), kind = int(random() % 3);
  for (int r = 0; r < ranks; ++r)
    node[r] = kind == 0 ? r * nodes / ranks : kind == 1 ? (r * 7 + 3) % nodes : int(random() % nodes);
  return node;
}

setting random_setting(engine_t& random, collective what, algorithm how, std::size_t width) {
  const int ranks = 1 + int(random() % (random() % 2 ? 9 : 70));
  const std::size_t n = random() % 4 == 0 ? 0 : random() % (random() % 3 ? 8 : 100);
  const int arities[] = {2, 2, 3, 4, 5, 8, 100};
  setting s{ranks, n, {}, {}, node_map(random_nodes(random, ranks))};
  if (random() % 3 == 0) s.map = node_map(ranks);
  s.wanted = {what, int(random() % ranks), n * width, width, false, {}};
  s.by = {how, how == algorithm::chain && random() % 2 ? 1 : arities[random() % std::size(arities)],
          random() % 2 ? 0 : random() % 60};
  return s;
}

std::string describe(const setting& s) {
  return std::string(name_of(s.wanted.what)) + " by " + std::string(name_of(s.by.how)) + " on " +
         std::to_string(s.ranks) + " ranks, root " + std::to_string(s.wanted.root) + ", " + std::to_string(s.n) +
         " values, arity " + std::to_string(s.by.arity) + ", segment " + std::to_string(s.by.segment) + ", nodes " +
         std::to_string(s.map.nodes());
}

/// Contributions 3 ... 4 combined with 5 are 3 ... 5; out of order they are nothing, for ever.
struct stretch {
  std::int32_t begin, end;
  bool operator==(const stretch&) const = default;
};
constexpr stretch nothing{-1, -1};
stretch join(const stretch& a, const stretch& b) { return a.end == b.begin ? stretch{a.begin, b.end} : nothing; }

template <class T>
using blocks = std::vector<std::vector<T>>;

template <class T>
blocks<T> random_blocks(engine_t& random, int ranks, std::size_t n) {
  blocks<T> all(ranks, std::vector<T>(n));
  for (auto& b : all)
    for (auto& x : b) x = T(random() % 1000);
  return all;
}

constexpr collective reductions[] = {collective::reduce, collective::all_reduce, collective::inclusive_scan,
                                     collective::exclusive_scan};
bool is_input(collective what) { return what == collective::reduce; }

/// Runs a reduction or scan on contributions and returns the outputs.
template <class T>
blocks<T> reduced(const setting& s, const blocks<T>& mine, const combination& combine, unsigned seed) {
  blocks<T> in = mine, out = mine;
  if (is_input(s.wanted.what)) out.assign(s.ranks, std::vector<T>(s.n, T{}));
  run_in_memory(s.wanted, s.by, s.map, combine, in, out, seed);
  EXPECT_EQ(in, mine) << "the input was written to";
  return out;
}

/// Whether rank r has a result, and of which contributions 0 ... end - 1.
int end_of_result(const setting& s, int r) {
  switch (s.wanted.what) {
    case collective::reduce: return r == s.wanted.root ? s.ranks : 0;
    case collective::inclusive_scan: return r + 1;
    case collective::exclusive_scan: return r;
    default: return s.ranks;
  }
}

template <class T>
void reductions_are_right(unsigned seed, int cases) {
  engine_t random(seed);
  for (const auto what : reductions)
    for (const auto how : algorithms_for(what))
      for (int c = 0; c < cases; ++c) {
        const auto s = random_setting(random, what, how, sizeof(T));
        SCOPED_TRACE(describe(s));
        const auto mine = random_blocks<T>(random, s.ranks, s.n);
        const auto op = std::array{operation::sum, operation::min, operation::max}[random() % 3];
        const auto out = reduced(s, mine, combination_of<T>(op), random());
        for (int r = 0; r < s.ranks; ++r)
          if (const int end = end_of_result(s, r); end > 0)
            for (std::size_t i = 0; i < s.n; ++i) {
              T expected = mine[0][i];
              for (int q = 1; q < end; ++q)
                expected = op == operation::sum   ? T(expected + mine[q][i])
                           : op == operation::min ? std::min(expected, mine[q][i])
                                                  : std::max(expected, mine[q][i]);
              ASSERT_EQ(out[r][i], expected) << "rank " << r;
            }
      }
}

TEST(schedules, reductions_of_every_type) {
  reductions_are_right<std::int32_t>(1, 25);
  reductions_are_right<std::int64_t>(2, 25);
  reductions_are_right<std::uint64_t>(3, 25);
  reductions_are_right<float>(4, 25);
  reductions_are_right<double>(5, 25);
}

TEST(schedules, reductions_keep_the_order_of_ranks) {
  engine_t random(6);
  for (const auto what : reductions)
    for (const auto how : algorithms_for(what)) {
      if (how == algorithm::ring || how == algorithm::halving) continue;  // they need a commutative operation
      for (int c = 0; c < 60; ++c) {
        auto s = random_setting(random, what, how, sizeof(stretch));
        s.map = node_map(s.ranks);
        SCOPED_TRACE(describe(s));
        blocks<stretch> mine(s.ranks);
        for (int r = 0; r < s.ranks; ++r) mine[r].assign(s.n, {r, r + 1});
        const auto out = reduced(s, mine, combination_of<stretch>(join), random());
        for (int r = 0; r < s.ranks; ++r) {
          const int end = end_of_result(s, r);
          if (end == 0) continue;
          for (const auto& x : out[r]) ASSERT_EQ(x, (stretch{0, end})) << "rank " << r;
        }
      }
    }
}

/// Block by block as the header of parts_of_sum.hpp defines it.
double in_fixed_order(const std::vector<double>& x, std::size_t begin, std::size_t length) {
  if (length == 1) return x[begin];
  const std::size_t half = length / 2;
  const double left = in_fixed_order(x, begin, half);
  return begin + half < x.size() ? left + in_fixed_order(x, begin + half, half) : left;
}

/// Numbers of very different size, so that every order of summation rounds differently.
double uneven(engine_t& random) {
  std::normal_distribution<double> normal;
  return normal(random) * std::exp(4 * normal(random));
}

TEST(schedules, a_fixed_order_has_the_bits_of_its_definition) {
  engine_t random(7);
  std::set<algorithm> seen;
  for (const auto what : {collective::reduce, collective::all_reduce})
    for (const auto how : algorithms_for(what))
      for (int c = 0; c < 80; ++c) {
        auto s = random_setting(random, what, how, sizeof(double));
        if (!keeps_fixed_order(what, how, s.ranks)) continue;
        s.wanted.fixed_order = true;
        SCOPED_TRACE(describe(s));
        blocks<double> mine(s.ranks, std::vector<double>(s.n));
        for (auto& b : mine)
          for (auto& x : b) x = uneven(random);
        const auto out = reduced(s, mine, combination_of<double>(operation::sum), random());
        for (std::size_t i = 0; i < s.n; ++i) {
          std::vector<double> x;
          for (const auto& b : mine) x.push_back(b[i]);
          const double expected = in_fixed_order(x, 0, std::bit_ceil(x.size()));
          for (int r = 0; r < s.ranks; ++r)
            if (end_of_result(s, r) > 0) {
              ASSERT_EQ(out[r][i], expected) << "rank " << r;
            }
        }
        seen.insert(how);
      }
  EXPECT_EQ(seen,
            (std::set{algorithm::tree, algorithm::chain, algorithm::butterfly, algorithm::direct, algorithm::halving}));
}

TEST(schedules, pieces_have_the_same_bits_for_any_number_of_ranks) {
  engine_t random(8);
  for (int c = 0; c < 150; ++c) {
    const auto what = c % 2 ? collective::reduce : collective::all_reduce;
    auto s = random_setting(random, what, c % 3 ? algorithm::tree : algorithm::chain, sizeof(double));
    s.wanted.fixed_order = true;
    s.by.arity = std::max(2, s.by.arity);
    const std::size_t pieces = 1 + random() % 100;
    std::vector<std::int64_t> first{0};
    for (int r = 1; r < s.ranks; ++r) first.push_back(std::int64_t(random() % (pieces + 1)));
    first.push_back(std::int64_t(pieces));
    std::ranges::sort(first);
    s.wanted.first_piece = first;
    SCOPED_TRACE(describe(s) + ", " + std::to_string(pieces) + " pieces");
    blocks<double> in(s.ranks), out(s.ranks, std::vector<double>(s.n)), all(s.n);
    for (int r = 0; r < s.ranks; ++r)
      for (auto piece = first[r]; piece < first[r + 1]; ++piece)
        for (std::size_t i = 0; i < s.n; ++i) all[i].push_back(in[r].emplace_back(uneven(random)));
    run_in_memory(s.wanted, s.by, s.map, combination_of<double>(operation::sum), in, out, random());
    for (std::size_t i = 0; i < s.n; ++i)
      for (int r = 0; r < s.ranks; ++r)
        if (end_of_result(s, r) > 0) {
          ASSERT_EQ(out[r][i], in_fixed_order(all[i], 0, std::bit_ceil(pieces))) << "rank " << r;
        }
  }
}

TEST(schedules, prefixes_do_not_depend_on_the_number_of_ranks) {
  engine_t random(9);
  std::vector<double> x(70);
  for (auto& v : x) v = uneven(random);
  std::vector<double> longest;
  for (const auto what : {collective::inclusive_scan, collective::exclusive_scan})
    for (int ranks = 70; ranks > 0; --ranks) {
      const setting s{ranks, 1, {what, 0, 8, 8, true, {}}, {algorithm::doubling, 2, 0}, node_map(ranks)};
      blocks<double> mine(ranks);
      for (int r = 0; r < ranks; ++r) mine[r] = {x[r]};
      const auto out = reduced(s, mine, combination_of<double>(operation::sum), ranks);
      if (longest.empty())
        for (const auto& v : out) longest.push_back(v[0]);
      for (int r = what == collective::inclusive_scan ? 0 : 1; r < ranks; ++r)
        ASSERT_EQ(out[r][0], longest[what == collective::inclusive_scan ? r : r - 1]);
    }
}

/// What moves blocks about: (operation, blocks of the input of rank r, blocks of its output).
TEST(schedules, blocks_arrive_where_they_belong) {
  engine_t random(10);
  using enum collective;
  for (const auto what : {broadcast, scatter, gather, all_gather, all_to_all})
    for (const auto how : algorithms_for(what))
      for (int c = 0; c < 120; ++c) {
        const auto s = random_setting(random, what, how, sizeof(std::int64_t));
        SCOPED_TRACE(describe(s));
        const int p = s.ranks, root = s.wanted.root;
        const std::size_t n = s.n, all = n * std::size_t(p);
        const bool many_in = what == scatter || what == all_to_all, many_out = what != broadcast && what != scatter;
        auto in = random_blocks<std::int64_t>(random, p, many_in ? all : n);
        auto out = random_blocks<std::int64_t>(random, p, many_out ? all : n);
        const auto sent = in;
        const auto before = out;
        run_in_memory(s.wanted, s.by, s.map, {}, in, out, random());
        EXPECT_EQ(in, sent) << "the input was written to";
        const auto block = [&](const std::vector<std::int64_t>& v, int i) {
          return std::vector<std::int64_t>(v.begin() + i * n, v.begin() + (i + 1) * n);
        };
        for (int r = 0; r < p; ++r) {
          if (what == broadcast) {
            ASSERT_EQ(out[r], before[root]);
          }
          if (what == scatter) {
            ASSERT_EQ(out[r], block(sent[root], r));
          }
          for (int q = 0; q < p; ++q) {
            if (what == all_gather || (what == gather && r == root)) {
              ASSERT_EQ(block(out[r], q), sent[q]);
            }
            if (what == all_to_all) {
              ASSERT_EQ(block(out[r], q), block(sent[q], r));
            }
          }
          if (what == gather && r != root) {
            ASSERT_EQ(out[r], before[r]) << "only the root's output is for others";
          }
        }
      }
}

TEST(schedules, blocks_of_any_length_are_gathered) {
  engine_t random(12);
  for (int c = 0; c < 200; ++c) {
    const auto what = c % 2 ? collective::gather : collective::all_gather;
    auto s = random_setting(random, what, algorithm::tree, 1);
    std::vector<std::size_t> first{0};
    blocks<std::uint8_t> in(s.ranks);
    std::vector<std::uint8_t> expected;
    for (auto& block : in) {
      block.resize(random() % 3 ? random() % 50 : 0);
      for (auto& x : block) expected.push_back(x = std::uint8_t(random()));
      first.push_back(expected.size());
    }
    s.wanted.first_byte = first;
    SCOPED_TRACE(describe(s));
    blocks<std::uint8_t> out(s.ranks);
    const auto gets = [&](int r) { return what == collective::all_gather || r == s.wanted.root; };
    for (int r = 0; r < s.ranks; ++r) out[r].resize(gets(r) ? expected.size() : 0);
    run_in_memory(s.wanted, s.by, s.map, {}, in, out, random());
    for (int r = 0; r < s.ranks; ++r)
      if (gets(r)) {
        ASSERT_EQ(out[r], expected) << "rank " << r;
      }
  }
  const std::vector<std::size_t> first{0, 1, 3};
  request uneven{collective::all_gather, 0, 1, 1};
  uneven.first_byte = first;
  EXPECT_ANY_THROW(make_schedule(uneven, {algorithm::ring, 2}, node_map(2), 0));
}

TEST(schedules, blocks_of_any_length_are_scattered) {
  engine_t random(14);
  for (int c = 0; c < 200; ++c) {
    auto s = random_setting(random, collective::scatter, algorithm::tree, 1);
    std::vector<std::size_t> first{0};
    blocks<std::uint8_t> in(s.ranks), out(s.ranks);
    auto& all = in[s.wanted.root];
    for (auto& block : out) {
      block.resize(random() % 3 ? random() % 50 : 0);
      for (std::size_t i = 0; i < block.size(); ++i) all.push_back(std::uint8_t(random()));
      first.push_back(all.size());
    }
    s.wanted.first_byte = first;
    SCOPED_TRACE(describe(s));
    run_in_memory(s.wanted, s.by, s.map, {}, in, out, random());
    for (int r = 0; r < s.ranks; ++r) {
      const std::vector<std::uint8_t> expected(all.begin() + std::ptrdiff_t(first[r]),
                                               all.begin() + std::ptrdiff_t(first[r + 1]));
      ASSERT_EQ(out[r], expected) << "rank " << r;
    }
  }
}

// Contributions that do not commute: only their order by ranks gives a sum.
TEST(schedules, blocks_are_reduced_and_scattered) {
  engine_t random(15);
  for (const auto how : algorithms_for(collective::reduce_scatter))
    for (const bool equal : {true, false})
      for (int c = 0; c < 30; ++c) {
        auto s = random_setting(random, collective::reduce_scatter, how, sizeof(stretch));
        s.by.segment *= std::size_t(s.ranks);  // of all blocks
        s.wanted.fixed_order = random() % 2;
        const auto p = std::size_t(s.ranks);
        std::vector<std::size_t> count(p, s.n), first{0};
        for (auto& n : count) {
          if (!equal) n = random() % 3 ? random() % 20 : 0;
          first.push_back(first.back() + n * sizeof(stretch));
        }
        if (!equal) s.wanted.first_byte = first;
        SCOPED_TRACE(describe(s));
        blocks<stretch> in(p), out(p);
        for (int r = 0; r < s.ranks; ++r) {
          in[r].assign(first.back() / sizeof(stretch), {r, r + 1});
          out[r].resize(count[r]);
        }
        const auto before = in;
        run_in_memory(s.wanted, s.by, s.map, combination_of<stretch>(join), in, out, random());
        EXPECT_EQ(in, before) << "the input was written to";
        for (int r = 0; r < s.ranks; ++r) ASSERT_EQ(out[r], std::vector<stretch>(count[r], {0, s.ranks}));
      }
}

TEST(schedules, a_reduction_to_blocks_has_the_bits_of_the_whole_one) {
  engine_t random(16);
  for (const auto how : algorithms_for(collective::reduce_scatter))
    for (int c = 0; c < 25; ++c) {
      auto s = random_setting(random, collective::reduce_scatter, how, sizeof(double));
      s.by.segment *= std::size_t(s.ranks);
      s.wanted.fixed_order = true;
      SCOPED_TRACE(describe(s));
      blocks<double> in(s.ranks, std::vector<double>(s.n * std::size_t(s.ranks))), out(s.ranks);
      for (auto& x : in)
        for (auto& v : x) v = uneven(random);
      for (auto& x : out) x.resize(s.n);
      run_in_memory(s.wanted, s.by, s.map, combination_of<double>(operation::sum), in, out, random());
      for (int r = 0; r < s.ranks; ++r)
        for (std::size_t i = 0; i < s.n; ++i) {
          std::vector<double> terms;
          for (const auto& x : in) terms.push_back(x[std::size_t(r) * s.n + i]);
          ASSERT_EQ(out[r][i], in_fixed_order(terms, 0, std::bit_ceil(terms.size())));
        }
    }
}

/// Nobody may leave a barrier before everybody came: each rank's sum of "who came" is all ranks.
TEST(schedules, a_barrier_hears_from_everyone) {
  engine_t random(11);
  for (const auto how : algorithms_for(collective::barrier))
    for (int c = 0; c < 60; ++c) {
      auto s = random_setting(random, collective::barrier, how, 1);
      s.wanted = {collective::barrier, 0, sizeof(stretch), sizeof(stretch), false, {}};
      s.map = node_map(s.ranks);
      SCOPED_TRACE(describe(s));
      blocks<stretch> none(s.ranks), out(s.ranks);
      for (int r = 0; r < s.ranks; ++r) out[r] = {{r, r + 1}};
      run_in_memory(s.wanted, s.by, s.map, combination_of<stretch>(join), none, out, random());
      for (int r = 0; r < s.ranks; ++r) ASSERT_EQ(out[r][0], (stretch{0, s.ranks}));
    }
}

TEST(schedules, a_tree_of_two_levels_crosses_each_node_border_once) {
  std::vector<int> node(64);
  for (int r = 0; r < 64; ++r) node[r] = r / 16;
  for (const auto& nodes : {node, [&] {
                              auto dealt = node;
                              for (int r = 0; r < 64; ++r) dealt[r] = r % 4;
                              return dealt;
                            }()}) {
    const node_map map(nodes);
    EXPECT_EQ(map.nodes(), 4);
    for (const int root : {0, 5, 63}) {
      int across = 0;
      for (int r = 0; r < 64; ++r)
        for (const auto& s : make_schedule({collective::broadcast, root, 8, 8}, {algorithm::tree, 2}, map, r).steps)
          across += s.what == step::action::send && nodes[s.peer] != nodes[r];
      EXPECT_EQ(across, 3);
    }
  }
}

TEST(schedules, many_ranks_have_short_schedules) {
  const int ranks = 100000;
  const node_map map(ranks);
  for (const int rank : {0, 1, 65536, 99999}) {
    const auto s = make_schedule({collective::all_reduce, 0, 8, 8}, {algorithm::tree, 2}, map, rank);
    EXPECT_LE(s.steps.size(), 3 * 17u);
  }
}

TEST(schedules, refuse_what_cannot_be) {
  const node_map map(4);
  const auto make = [&](request r, method m) { return make_schedule(r, m, map, 0); };
  EXPECT_THROW(make({collective::broadcast, 4, 8}, {}), plaq::input_error);
  EXPECT_THROW(make({collective::broadcast, -1, 8}, {}), plaq::input_error);
  EXPECT_THROW(make({collective::broadcast, 0, 8}, {algorithm::ring}), plaq::input_error);
  EXPECT_THROW(make({collective::broadcast, 0, 8}, {algorithm::tree, 1}), plaq::input_error);
  EXPECT_THROW(make({collective::all_reduce, 0, 8, 8, true}, {algorithm::ring}), plaq::input_error);
  EXPECT_THROW(algorithm_named("star"), plaq::input_error);
  EXPECT_EQ(collective_named("all_to_all"), collective::all_to_all);
}

}  // namespace
