#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "plaq/base/error.hpp"
#include "plaq/dca/chain.hpp"
#include "plaq/dca/device/advance.hpp"
#include "plaq/dca/device/walker.hpp"
#include "plaq/gpu/host_team.hpp"
#include "small_problem.hpp"

using namespace plaq::dca;

namespace {

struct case_of_walk {
  torus cluster;
  double beta, U, shift;
  int block_length;
  std::uint64_t seed;
  int measurements = 60, proposals = 40;
  double K = 1;
};

problem problem_of(const case_of_walk& c) {
  problem p;
  p.model.parameters = {c.beta, c.U, c.cluster.size(), c.K};
  p.model.g0 = two_level_bath(c.cluster, c.beta, c.shift, 0.4).table(256);
  p.model.difference = c.cluster.difference();
  p.model.momenta = c.cluster.momenta();
  p.moves.block_length = c.block_length;
  p.moves.proposals_per_sweep = c.proposals;
  p.moves.sweeps_between_rebuilds = 3;
  p.moves.sweeps_between_worms = 2;
  p.moves.longest_worm = 400;
  p.rules.measurements_per_bin = c.measurements;
  p.rules.seed = c.seed;
  return p;
}

std::vector<plaq::gpu::device> places() {
  std::vector<plaq::gpu::device> out{{plaq::gpu::device::host}};
  if (!plaq::gpu::find_devices().gpus.empty()) out.push_back({0});
  return out;
}

// The first bin of a chain, as dca::chain_walk begins it.
void begin(device::walker& w, const problem& p, std::uint32_t chain, const configuration& start = {}) {
  w.begin(start, streams::of(p.rules, streams::moves, chain, 0), streams::of(p.rules, streams::worms, chain, 0));
}

void expect_same_vertices(const configuration& a, const configuration& b) {
  EXPECT_EQ(a.sign, b.sign);
  ASSERT_EQ(a.vertices.size(), b.vertices.size());
  for (std::size_t i = 0; i < a.vertices.size(); ++i) {
    EXPECT_EQ(a.vertices[i].site, b.vertices[i].site);
    EXPECT_EQ(a.vertices[i].spin, b.vertices[i].spin);
    EXPECT_EQ(a.vertices[i].tau, b.vertices[i].tau);
  }
}

// Largest difference of M in units of 1 + the largest element.
double deviation(const sample& a, const sample& b) {
  double worst = 0, largest = 0;
  for (int side = 0; side < 2; ++side)
    for (int j = 0; j < a.order(); ++j) {
      worst = std::max(worst, std::abs(a.n_diagonal[side][j] - b.n_diagonal[side][j]));
      largest = std::max(largest, std::abs(a.n_diagonal[side][j]));
    }
  return worst / (1 + largest);
}

void compare(const case_of_walk& c) {
  SCOPED_TRACE(testing::Message() << c.cluster.size() << " sites, beta " << c.beta << ", U " << c.U << ", seed "
                                  << c.seed);
  const problem p = problem_of(c);
  const std::uint32_t chain = 3;
  for (const plaq::gpu::device at : places()) {
    device::chain_device where(p, at);
    device::walker many(where, chain);
    begin(many, p, chain);
    control running;
    chain_walk<double> one(p.model, p.moves, p.rules, chain, running);
    sample found, expected;
    one.bin({}, 0, [&](const walker<double>& w, std::uint64_t m) {
      if (testing::Test::HasFailure()) return;
      SCOPED_TRACE(testing::Message() << "measurement " << m);
      many.sweeps(1);
      expect_same_vertices(many.current(), w.current());
      many.fill(found);
      w.fill(expected);
      ASSERT_EQ(found.first, expected.first);
      EXPECT_EQ(found.tau, expected.tau);
      EXPECT_EQ(found.strength, expected.strength);
      EXPECT_LT(deviation(expected, found), 1e-10);
      for (int side = 0; side < 2; ++side)
        for (int q = 0; q < found.order(); ++q)
          for (int r = 0; r < found.order(); ++r)
            EXPECT_NEAR(found.m[side](r, q), expected.m[side](r, q), 1e-6 * (1 + std::abs(expected.m[side](r, q))));
    });
    EXPECT_EQ(many.state().accepted, one.moves_of_bin().accepted);
    EXPECT_EQ(many.state().proposed, one.moves_of_bin().proposed);
    EXPECT_LT(many.state().drift, 1e-8);
    EXPECT_GT(many.state().drift, 0);
  }
}

}  // namespace

TEST(device_walk, is_that_of_the_walker_at_strong_coupling) {
  for (std::uint64_t seed : {1, 2, 3}) compare({{2, 2}, 5, 8, 1.6, 64, seed, 30});
}

TEST(device_walk, is_that_of_the_walker_where_K_is_negative) {
  for (std::uint64_t seed : {1, 2}) compare({{2, 2}, 5, 8, 1.6, 64, seed, 30, 40, -8.});
}

TEST(device_walk, is_that_of_the_walker_for_any_length_of_blocks) {
  for (int block_length : {1, 7, 16, 100}) compare({{2, 2}, 3, 4, 0.8, block_length, 5});
}

TEST(device_walk, is_that_of_the_walker_on_other_clusters) {
  compare({{1, 1}, 1, 1, 0, 16, 1, 100});
  compare({{2, 1}, 4, 4, 0.3, 16, 2});
  compare({{3, 1}, 5, 4, 0, 8, 3});
  compare({{4, 2}, 2, 6, 0.5, 32, 4, 16, 120});
}

TEST(device_walk, makes_all_moves) {
  // Without flips of a site, or without worms, it ends elsewhere.
  const case_of_walk c{{2, 2}, 5, 5, 0.5, 64, 1};
  const auto end_of = [](const problem& p) {
    device::chain_device where(p, {});
    device::walker w(where, 0);
    begin(w, p, 0);
    EXPECT_EQ(w.capacity(), 64);
    w.sweeps(60);
    EXPECT_GT(w.capacity(), 100);  // it has grown
    std::vector<double> out;
    for (const vertex& v : w.current().vertices) out.push_back(v.spin * (v.tau + v.site));
    return out;
  };
  problem p = problem_of(c);
  const auto all = end_of(p);
  EXPECT_EQ(end_of(p), all);
  p.moves.sweeps_between_worms = 1000;
  EXPECT_NE(end_of(p), all);
  p = problem_of(c);
  p.moves.sweeps_between_rebuilds = 1000;
  EXPECT_NE(end_of(p), all);
}

TEST(device_walk, goes_on_from_vertices_alone) {
  const problem p = problem_of({{2, 2}, 5, 8, 1.6, 64, 1});
  device::chain_device where(p, {});
  device::walker w(where, 1);
  begin(w, p, 1);
  w.sweeps(7);
  const configuration first = w.current();
  begin(w, p, 1, first);
  w.sweeps(3);
  control running;
  chain_walk<double> one(p.model, p.moves, p.rules, 1, running);
  one.bin(first, 0, [&](const walker<double>& now, std::uint64_t m) {
    if (m == 2) expect_same_vertices(w.current(), now.current());
  });
}

// The kernel itself, in memory of the host: what a team of several threads makes of it is what one thread does.
TEST(device_walk, of_any_number_of_threads_has_the_same_bits) {
  const problem p = problem_of({{2, 1}, 4, 6, 0.3, 16, 2, 1, 20});
  const g0_table& g0 = *p.model.g0;
  constexpr int capacity = 64;
  const vertex_strength strength(p.model.parameters);
  const device::walk_rules rules{4, 1, 2, {strength(1, 1), strength(1, -1)}, 16, 20, 2, 2, 5};
  const auto bits_after = [&](int threads) {
    device::vertex_arrays r;
    std::vector<std::byte> vertices(allocate_vertices(r, nullptr, capacity)),
        scratch(device::scratch_bytes(capacity, rules.block_length));
    device::chain c{{g0.beta(), g0.segments() / g0.beta(), g0.sites(), g0.segments(), g0.coefficients().data(),
                     g0.difference().data()},
                    g0(0, 0., 0, 0.),
                    streams::of(p.rules, streams::moves, 0, 0),
                    streams::of(p.rules, streams::worms, 0, 0),
                    vertices.data(),
                    scratch.data(),
                    capacity,
                    6,
                    {},
                    {}};
    if (threads == 0) {
      plaq::gpu::serial_team team;
      advance(team, rules, {}, c, {});
    } else {
      plaq::gpu::thread_team::run(threads, [&](plaq::gpu::thread_team& team) { advance(team, rules, {}, c, {}); });
    }
    EXPECT_EQ(c.state.status, device::walk_status::done);
    EXPECT_GT(c.state.order, 5);
    allocate_vertices(r, vertices.data(), capacity);
    std::vector<double> out{c.state.sign, double(c.state.accepted), c.state.drift};
    for (int j = 0; j < c.state.order; ++j)
      for (int side = 0; side < 2; ++side)
        for (int i = 0; i < c.state.order; ++i) out.push_back(r.n[side][i + j * capacity]);
    return out;
  };
  const auto alone = bits_after(0);
  for (int threads : {1, 2, 3}) EXPECT_EQ(bits_after(threads), alone) << threads << " threads";
}

TEST(device_walk, of_many_chains_from_many_threads_is_that_of_each) {
  problem p = problem_of({{2, 2}, 3, 4, 0.8, 16, 5});
  auto other = std::make_shared<bath_function>();
  other->g0 = two_level_bath({2, 2}, 3, 0.2, 0.4).table(128);
  auto first = std::make_shared<bath_function>();
  first->g0 = p.model.g0;
  p.baths = {first, other, first, other};  // of their own
  device::chain_device where(p, {});
  const auto end_of = [&](device::chain_device& at, std::uint32_t chain) {
    device::walker w(at, chain);
    begin(w, p, chain);
    for (int i = 0; i < 5; ++i) w.sweeps(3);
    return w.current();
  };
  std::vector<configuration> together(4);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t chain = 0; chain < 4; ++chain)
      threads.emplace_back([&, chain] { together[chain] = end_of(where, chain); });
  }
  for (std::uint32_t chain = 0; chain < 4; ++chain) {
    device::chain_device alone(p, {});
    expect_same_vertices(together[chain], end_of(alone, chain));
    const problem own = p.for_chain(chain);
    control running;
    chain_walk<double> one(own.model, p.moves, p.rules, chain, running);
    one.bin({}, 0, [&](const walker<double>& now, std::uint64_t m) {
      if (m == 14) expect_same_vertices(together[chain], now.current());
    });
  }
}

TEST(device_walk, fills_bins_like_the_workers) {
  auto p = some_problem(true, {{channel::magnetic, 1, 0}});
  p->rules.bins = 1;
  p->rules.measurements_per_bin = 20;
  run_options here, there;
  here.pool.workers = there.pool.workers = 2;
  there.devices = {{plaq::gpu::device::host}, {plaq::gpu::device::host}};
  control first, second;
  const auto all = [](int) { return true; };
  const auto expected = run_all(p, fresh_chains(5, all), here, first),
             found = run_all(p, fresh_chains(5, all), there, second);
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(second.sweeps, first.sweeps);
  EXPECT_EQ(second.measurements, first.measurements);
  for (int c = 0; c < 5; ++c) {
    expect_same_vertices(found[c].current, expected[c].current);
    EXPECT_EQ(found[c].moves.accepted, expected[c].moves.accepted);
    ASSERT_EQ(found[c].bins.size(), 1u);
    const auto &a = found[c].bins[0].sums, &b = expected[c].bins[0].sums;
    ASSERT_EQ(a.size(), b.size());
    double largest = 0;
    for (double x : b) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * largest);
  }
}

TEST(device_walk, refuses_what_it_cannot_walk) {
  problem p = problem_of({{2, 2}, 5, 8, 1.6, 64, 1});
  {
    device::chain_device where(p, {});
    device::walker w(where, 0);
    EXPECT_THROW(begin(w, p, 0, {{{4, 1, 0.}}, 1.}), plaq::runtime_failure);
    EXPECT_THROW(begin(w, p, 0, {{{0, 0, 0.}}, 1.}), plaq::runtime_failure);
    EXPECT_THROW(begin(w, p, 0, {{{0, 1, 5.}}, 1.}), plaq::runtime_failure);
  }
  p.moves.sweeps_between_charge_worms = 5;
  EXPECT_THROW(device::chain_device(p, {}), plaq::input_error);
  p.moves.sweeps_between_charge_worms = 0;
  p.moves.single_precision = true;
  EXPECT_THROW(device::chain_device(p, {}), plaq::input_error);
}

TEST(device_walk, stops_at_a_bath_that_is_not_a_number) {
  problem p = problem_of({{1, 1}, 1, 1, 0, 16, 1});
  p.model.g0 = std::make_shared<g0_table>(1., 1, 1, std::vector<double>(g0_table::terms, std::nan("")), std::vector{0});
  device::chain_device where(p, {});
  device::walker w(where, 0);
  begin(w, p, 0, {{{0, 1, 0.5}}, 1.});
  EXPECT_THROW(w.sweeps(1), plaq::runtime_failure);
}
