// The solver at its edges: no chains, complete chains, and what chains refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/dca/solver.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

std::shared_ptr<problem> short_problem() {
  auto p = some_problem(true, {{channel::magnetic, 1, 0}}, {2, 1});
  p->rules.measurements_per_bin = 3;
  p->rules.bins = 2;
  return p;
}

std::vector<chain_state> all_chains(int count) {
  return fresh_chains(count, [](int) { return true; });
}

run_options on_host_device() {
  run_options out;
  out.devices = {{gpu::device::host}};
  return out;
}

/// Chains back in the queue after a run that fails with an Error.
template <class Error>
std::vector<chain_state> expect_failure(const problem& p, std::vector<chain_state> chains, const char* message,
                                        const run_options& options = {}) {
  control c;
  chain_queue queue;
  const std::size_t count = chains.size();
  for (chain_state& s : chains) queue.add(std::move(s));
  queue.close();
  try {
    run_chains(p, queue, options, c);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
  EXPECT_TRUE(queue.take_complete().empty());
  return queue.take(count);
}

TEST(solver, without_chains_returns) {
  control c;
  EXPECT_TRUE(run_all(short_problem(), {}, {}, c).empty());
  EXPECT_EQ(c.measurements, 0u);
  EXPECT_EQ(c.sweeps, 0u);
}

TEST(solver, leaves_a_complete_chain_as_it_was) {
  const auto p = short_problem();
  auto chains = all_chains(1);
  chains[0].warm = true;
  chains[0].bins_done = 2;
  chains[0].current = {{{1, -1, 0.25}}, 1};
  control c;
  const auto after = run_all(p, std::move(chains), {}, c);
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(after[0].bins_done, 2u);
  EXPECT_TRUE(after[0].bins.empty());
  ASSERT_EQ(after[0].current.vertices.size(), 1u);
  EXPECT_EQ(after[0].current.vertices[0].tau, 0.25);
  EXPECT_EQ(c.sweeps, 0u);
}

TEST(solver, only_warms_up_a_chain_of_no_bins) {
  const auto p = short_problem();
  p->rules.bins = 0;
  control c;
  const auto after = run_all(p, all_chains(1), {}, c);
  EXPECT_TRUE(after.at(0).complete(p->rules));
  EXPECT_TRUE(after[0].bins.empty());
  EXPECT_EQ(c.measurements, 0u);
}

TEST(solver, counts_sweeps_measurements_and_seconds_of_all_chains) {
  const auto p = short_problem();
  for (const run_options& options : {run_options{}, on_host_device()}) {
    control c;
    const auto after = run_all(p, all_chains(3), options, c);
    EXPECT_EQ(c.measurements, 3u * 2 * 3);
    EXPECT_EQ(c.sweeps, 3u * (5 + 2 * 3));
    for (const chain_state& s : after) {
      EXPECT_TRUE(s.complete(p->rules));
      EXPECT_EQ(s.bins.size(), 2u);
      EXPECT_EQ(s.moves.proposed, 2u * 3 * 8);
      EXPECT_GT(s.walking_seconds, 0);
      EXPECT_GE(s.measuring_seconds, 0);
      EXPECT_EQ(s.measuring_seconds > 0, options.devices.empty()) << "a device walks and measures at once";
    }
  }
}

TEST(solver, refuses_a_chain_whose_vertices_lie_outside_the_problem) {
  const auto p = short_problem();
  for (const vertex& wrong :
       {vertex{2, 1, 0.5}, vertex{-1, 1, 0.5}, vertex{0, 0, 0.5}, vertex{0, 1, 3.}, vertex{0, 1, -0.5}})
    for (const run_options& options : {run_options{}, on_host_device()}) {
      auto chains = all_chains(1);
      chains[0].current.vertices = {wrong};
      const auto back =
          expect_failure<runtime_failure>(*p, std::move(chains), "a vertex lies outside the problem", options);
      ASSERT_EQ(back.size(), 1u);
      EXPECT_FALSE(back[0].warm);
      EXPECT_EQ(back[0].bins_done, 0u);
    }
}

TEST(solver, refuses_a_bath_of_another_problem) {
  const auto p = short_problem();
  p->model.g0 = two_level_bath({2, 1}, 4, 0, 0.4).table();  // beta is 3
  EXPECT_EQ(expect_failure<runtime_failure>(*p, all_chains(1), "g0 belongs to another problem").size(), 1u);
  p->model.g0 = two_level_bath({2, 2}, 3, 0, 0.4).table();
  EXPECT_EQ(expect_failure<runtime_failure>(*p, all_chains(1), "g0 belongs to another problem").size(), 1u);
}

TEST(solver, refuses_empty_blocks) {
  const auto p = short_problem();
  p->moves.block_length = 0;
  expect_failure<runtime_failure>(*p, all_chains(1), "block_length must be positive");
}

TEST(solver, refuses_a_chain_without_a_bath) {
  const auto p = short_problem();
  auto bath = std::make_shared<bath_function>();
  bath->g0 = p->model.g0;
  bath->g0_frequency = p->measured.g0_frequency;
  p->baths = {bath};
  auto chains = all_chains(2);
  chains.erase(chains.begin());
  EXPECT_EQ(expect_failure<std::out_of_range>(*p, std::move(chains), "").size(), 1u);
}

TEST(solver, refuses_measurements_that_do_not_fit_the_cluster) {
  auto p = short_problem();
  p->measured.orbit.pop_back();
  expect_failure<runtime_failure>(*p, all_chains(1), "orbits must be sites x sites");
  p = short_problem();
  p->measured.channels[0].transfer = 2;
  expect_failure<runtime_failure>(*p, all_chains(1), "transfer is not a cluster momentum");
  p = short_problem();
  p->measured.channels[0].bosonic = 2;
  expect_failure<runtime_failure>(*p, all_chains(1), "too few frequencies measured");
  p = short_problem();
  p->measured.odd_frequencies = {1, 4};
  expect_failure<runtime_failure>(*p, all_chains(1), "frequencies are positive odd numbers");
  p = short_problem();
  p->model.difference.pop_back();
  expect_failure<runtime_failure>(*p, all_chains(1), "differences must be sites x sites");
  p = short_problem();
  p->measured.window = p->measured.two_particle_frequencies + 1;
  expect_failure<runtime_failure>(*p, all_chains(1), "the window exceeds the frequencies measured");
}

TEST(solver, refuses_on_devices_what_only_workers_can_walk) {
  auto p = short_problem();
  p->moves.single_precision = true;
  EXPECT_EQ(
      expect_failure<input_error>(*p, all_chains(2), "neither charge worms nor single precision", on_host_device())
          .size(),
      2u);
  p = short_problem();
  p->moves.sweeps_between_charge_worms = 1;
  EXPECT_EQ(
      expect_failure<input_error>(*p, all_chains(2), "neither charge worms nor single precision", on_host_device())
          .size(),
      2u);
}

TEST(solver, refuses_devices_whose_memory_is_shared_by_too_many_ranks) {
  const auto p = short_problem();
  run_options options = on_host_device();
  options.ranks_per_device = 1'000'000'000;
  EXPECT_EQ(expect_failure<runtime_failure>(*p, all_chains(1), "the host has 0 MiB left for this rank", options).size(),
            1u);
}

TEST(solver, stops_at_a_bath_that_is_not_finite) {
  const auto p = short_problem();
  std::vector<double> coefficients(2 * g0_table::terms, std::nan(""));
  p->model.g0 = std::make_shared<g0_table>(3., 2, 1, coefficients, torus{2, 1}.difference());
  auto chains = all_chains(1);
  chains[0].current.vertices = {{0, 1, 0.5}};
  expect_failure<runtime_failure>(*p, chains, "the weight is not finite");
  expect_failure<runtime_failure>(*p, chains, "the weight is not finite", on_host_device());
}

}  // namespace
}  // namespace plaq::dca
