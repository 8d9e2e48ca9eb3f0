// The walk of one chain: its sweeps and numbers, and where it may be stopped.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/dca/chain.hpp"
#include "plaq/dca/device/chain_walk.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

struct chain_walks : testing::Test {
  chain_walks() {
    p->rules.measurements_per_bin = 6;
    p->rules.sweeps_per_measurement = 3;
    p->rules.warm_up_sweeps = 10;
    p->moves.sweeps_between_rebuilds = 4;
    p->moves.sweeps_between_worms = 3;
  }
  template <class Real = double>
  chain_walk<Real> walk(std::uint32_t chain = 1) {
    return {p->model, p->moves, p->rules, chain, c};
  }
  std::vector<double> times_after(auto& w, std::uint64_t bin, const configuration& start = {}) {
    EXPECT_TRUE(w.bin(start, bin, [](auto&, std::uint64_t) {}));
    std::vector<double> out;
    for (const vertex& v : w.current().current().vertices) out.push_back(v.spin * (v.tau + v.site));
    return out;
  }

  std::shared_ptr<problem> p = some_problem(false, {});
  control c;
};

TEST_F(chain_walks, measures_after_so_many_sweeps_as_its_rules_say) {
  auto w = walk();
  std::vector<std::uint64_t> numbers, sweeps;
  EXPECT_TRUE(w.bin({}, 0, [&](const walker<double>&, std::uint64_t m) {
    numbers.push_back(m);
    sweeps.push_back(c.sweeps);
  }));
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(sweeps, (std::vector<std::uint64_t>{3, 6, 9, 12, 15, 18}));
}

TEST_F(chain_walks, warms_up_without_measurements) {
  auto w = walk();
  EXPECT_TRUE(w.warm_up({}));
  EXPECT_EQ(c.sweeps, 10u);
  EXPECT_GT(w.current().order(), 0);
}

TEST_F(chain_walks, counts_the_moves_of_the_last_bin_alone) {
  auto w = walk();
  for (std::uint64_t bin = 0; bin < 3; ++bin) {
    times_after(w, bin);
    EXPECT_EQ(w.moves_of_bin().proposed, 6u * 3 * 8);
    EXPECT_LE(w.moves_of_bin().accepted, w.moves_of_bin().proposed);
    EXPECT_GT(w.moves_of_bin().accepted, 0u);
  }
}

TEST_F(chain_walks, begins_every_bin_from_the_given_vertices_alone) {
  auto used = walk(), unused = walk();
  used.warm_up({});
  const configuration start{{{0, 1, 0.5}, {3, -1, 2.5}}, 1};
  times_after(used, 7);
  EXPECT_EQ(times_after(used, 2, start), times_after(unused, 2, start));
}

TEST_F(chain_walks, has_numbers_of_its_own_in_every_bin_and_chain) {
  auto w = walk(1), other = walk(2);
  const auto first = times_after(w, 0);
  EXPECT_NE(times_after(w, 1), first);
  EXPECT_NE(times_after(other, 0), first);
  EXPECT_EQ(times_after(w, 0), first);
}

TEST_F(chain_walks, stops_before_it_began_when_it_is_abandoned) {
  c.stop = control::abandon;
  auto w = walk();
  EXPECT_FALSE(w.warm_up({}));
  EXPECT_FALSE(w.bin({}, 0, [](const walker<double>&, std::uint64_t) { FAIL(); }));
  EXPECT_EQ(c.sweeps, 0u);
}

TEST_F(chain_walks, stops_between_two_sweeps_when_it_is_abandoned) {
  auto w = walk();
  int measured = 0;
  EXPECT_FALSE(w.bin({}, 0, [&](const walker<double>&, std::uint64_t m) {
    ++measured;
    if (m == 2) c.stop = control::abandon;
  }));
  EXPECT_EQ(measured, 3);
  EXPECT_EQ(c.sweeps, 9u);
}

TEST_F(chain_walks, completes_its_bin_when_it_is_to_finish) {
  c.stop = control::finish;
  auto w = walk();
  int measured = 0;
  EXPECT_TRUE(w.bin({}, 0, [&](const walker<double>&, std::uint64_t) { ++measured; }));
  EXPECT_EQ(measured, 6);
}

TEST_F(chain_walks, reports_the_drift_of_rebuilds) {
  auto w = walk();
  times_after(w, 0);
  EXPECT_GT(w.drift(), 0);
  EXPECT_LT(w.drift(), 1e-9);
  p->moves.sweeps_between_rebuilds = 1000;
  times_after(w, 0);
  EXPECT_EQ(w.drift(), 0) << "no rebuild in this bin";
}

TEST_F(chain_walks, makes_every_kind_of_move) {
  p->moves.sweeps_between_worms = 1;
  p->rules.sweeps_per_measurement = 10;
  auto w = walk();
  const auto all = times_after(w, 0);
  p->moves.sweeps_between_rebuilds = 1000;
  EXPECT_NE(times_after(w, 0), all) << "without flips of sites";
  p->moves.sweeps_between_rebuilds = 4;
  p->moves.sweeps_between_worms = 1000;
  EXPECT_NE(times_after(w, 0), all) << "without worms";
  p->moves.sweeps_between_worms = 1;
  p->moves.sweeps_between_charge_worms = 2;
  EXPECT_NE(times_after(w, 0), all) << "with charge worms";
}

TEST_F(chain_walks, in_single_precision_decides_alike_at_first) {
  p->rules.measurements_per_bin = 1;
  p->rules.sweeps_per_measurement = 1;
  auto exact = walk();
  auto single = walk<float>();
  EXPECT_EQ(times_after(single, 0), times_after(exact, 0));
}

TEST_F(chain_walks, on_a_device_stops_when_it_is_abandoned) {
  device::chain_device where(*p, {});
  device::chain_walk w(where, p->rules, 1, c, true);
  device::accumulator to(where, p->rules, 1);
  c.stop = control::abandon;
  EXPECT_FALSE(w.warm_up({}));
  EXPECT_FALSE(w.bin({}, 0, [](const device::walker&, std::uint64_t) { FAIL(); }));
  to.begin_bin(0);
  EXPECT_FALSE(w.bin({}, 0, to));
  EXPECT_EQ(c.sweeps, 0u);
  EXPECT_EQ(c.measurements, 0u);
}

TEST_F(chain_walks, on_a_device_counts_like_that_of_the_workers) {
  device::chain_device where(*p, {});
  device::chain_walk w(where, p->rules, 1, c, true);
  device::accumulator to(where, p->rules, 1);
  EXPECT_TRUE(w.warm_up({}));
  EXPECT_EQ(c.sweeps, 10u);
  to.begin_bin(0);
  EXPECT_TRUE(w.bin({}, 0, to));
  EXPECT_EQ(c.sweeps, 28u);
  EXPECT_EQ(c.measurements, 6u);
  EXPECT_EQ(w.moves_of_bin().proposed, 6u * 3 * 8);
  auto expected = walk();
  times_after(expected, 0);
  EXPECT_EQ(w.moves_of_bin().accepted, expected.moves_of_bin().accepted);
}

TEST_F(chain_walks, on_a_device_refuses_to_measure_without_a_workspace_for_it) {
  device::chain_device where(*p, {});
  device::chain_walk w(where, p->rules, 1, c);
  device::accumulator to(where, p->rules, 1);
  to.begin_bin(0);
  EXPECT_THROW(w.bin({}, 0, to), runtime_failure);
}

}  // namespace
}  // namespace plaq::dca
