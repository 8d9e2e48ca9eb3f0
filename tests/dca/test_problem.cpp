// The problem of an iteration: baths of chains, strengths of vertices, channels and random streams.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/dca/channels.hpp"
#include "plaq/dca/streams.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

std::shared_ptr<const bath_function> bath(double shift) {
  const two_level_bath levels({2, 2}, 3, shift, 0.4);
  auto out = std::make_shared<bath_function>();
  out->g0 = levels.table();
  out->g0_frequency = levels.at_frequencies(4);
  return out;
}

TEST(problem, is_the_same_for_all_chains_without_baths_of_their_own) {
  const auto p = some_problem(true, {{channel::pp, 0, 0}});
  for (const std::size_t chain : {0u, 7u, 1000u}) {
    const problem own = p->for_chain(chain);
    EXPECT_EQ(own.model.g0, p->model.g0);
    EXPECT_EQ(own.measured.g0_frequency, p->measured.g0_frequency);
  }
}

TEST(problem, of_a_chain_has_its_bath_in_time_and_frequency) {
  const auto p = some_problem(true, {});
  p->baths = {bath(0.1), bath(0.7), bath(0.1)};
  for (std::size_t chain = 0; chain < 3; ++chain) {
    const problem own = p->for_chain(chain);
    EXPECT_EQ(own.model.g0, p->baths[chain]->g0);
    EXPECT_EQ(own.measured.g0_frequency, p->baths[chain]->g0_frequency);
    EXPECT_NE(own.measured.g0_frequency, p->measured.g0_frequency);
  }
}

TEST(problem, of_a_chain_keeps_all_other_rules) {
  const auto p = some_problem(true, {{channel::magnetic, 3, 1}});
  p->baths = {bath(0.1)};
  const problem own = p->for_chain(0);
  EXPECT_TRUE(own.baths.empty()) << "it is a problem of one bath";
  EXPECT_EQ(own.model.parameters.U, p->model.parameters.U);
  EXPECT_EQ(own.model.difference, p->model.difference);
  EXPECT_EQ(own.model.momenta.minus, p->model.momenta.minus);
  EXPECT_EQ(own.measured.channels.size(), 1u);
  EXPECT_EQ(own.measured.channels[0].bosonic, 1);
  EXPECT_EQ(own.moves.proposals_per_sweep, p->moves.proposals_per_sweep);
  EXPECT_EQ(own.rules.bins, p->rules.bins);
  EXPECT_EQ(own.rules.seed, p->rules.seed);
}

TEST(problem, refuses_a_chain_without_a_bath) {
  const auto p = some_problem(true, {});
  p->baths = {bath(0.1), bath(0.2)};
  EXPECT_NO_THROW(p->for_chain(1));
  EXPECT_THROW(p->for_chain(2), std::out_of_range);
}

TEST(momentum_tables, add_momenta_of_a_torus) {
  const torus cluster{3, 2};
  const momentum_tables momenta = cluster.momenta();
  for (int k = 0; k < 6; ++k) {
    EXPECT_EQ(momenta.plus(k, 0), k);
    EXPECT_EQ(momenta.plus(k, momenta.minus[std::size_t(k)]), 0);
    for (int q = 0; q < 6; ++q)
      for (int r = 0; r < 6; ++r) {
        const auto phase = [&](int momentum) { return momenta.fourier[std::size_t(momentum * 6 + r)]; };
        EXPECT_NEAR(std::abs(phase(momenta.plus(k, q)) - phase(k) * phase(q)), 0, 1e-12);
      }
  }
}

TEST(expansion, gives_odd_orders_the_sign_of_K) {
  for (const int k : {0, 1, 2, 7}) {
    EXPECT_EQ((expansion{3, 4, 4, 1}.sign_of_factor(k)), 1);
    EXPECT_EQ((expansion{3, 4, 4, -2}.sign_of_factor(k)), k % 2 ? -1 : 1);
  }
}

TEST(vertex_strength, is_opposite_for_the_other_spin_and_the_other_auxiliary_spin) {
  const vertex_strength x({3, 4, 4, 1.});
  EXPECT_EQ(x(1, 1), x(-1, -1));
  EXPECT_EQ(x(1, -1), x(-1, 1));
  EXPECT_NEAR((1 + x(1, 1)) * (1 + x(1, -1)), 1, 1e-12) << "e^V e^-V";
}

TEST(vertex_strength, obeys_the_definition_of_gamma) {
  // (e^gamma + e^-gamma) / 2 = 1 + beta U Nc / (2 K), of either sign
  for (const double K : {0.3, 1., 25., -0.3, -5., -11.}) {
    const expansion p{3, 4, 4, K};
    const vertex_strength x(p);
    EXPECT_NEAR((2 + x(1, 1) + x(1, -1)) / 2 / (1 + p.beta * p.U * p.sites / (2 * K)), 1, 1e-12) << K;
  }
}

TEST(vertex_strength, vanishes_without_interaction) {
  const vertex_strength x({3, 0, 4, 1.});
  for (const int sigma : {1, -1})
    for (const int spin : {1, -1}) EXPECT_EQ(x(sigma, spin), 0);
}

TEST(channel_named, lists_the_allowed_names_in_its_error) {
  try {
    channel_named("pair");
    FAIL();
  } catch (const input_error& e) {
    const std::string text = e.what();
    for (const char* part : {"pair", "pp", "magnetic", "charge"}) EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_THROW(channel_named(""), input_error);
  EXPECT_THROW(channel_named("PP"), input_error);
}

TEST(streams, of_every_purpose_have_numbers_of_their_own) {
  const chain_rules rules{.seed = 7, .point = 2, .iteration = 3};
  std::set<std::array<std::uint64_t, 4>> drawn;
  const std::uint32_t purposes[] = {
      streams::moves, streams::warm_up_moves, streams::measurement_times, streams::neighbours,
      streams::worms, streams::warm_up_worms, streams::charge_worms,      streams::warm_up_charge_worms};
  for (const std::uint32_t purpose : purposes) drawn.insert(random_words(streams::of(rules, purpose, 4, 5), 9));
  EXPECT_EQ(drawn.size(), std::size(purposes));
}

TEST(streams, change_with_every_coordinate) {
  const chain_rules rules{.seed = 7, .point = 2, .iteration = 3};
  const auto words = [](const chain_rules& r, std::uint32_t chain, std::uint64_t bin) {
    return random_words(streams::of(r, streams::moves, chain, bin), 0);
  };
  chain_rules seed = rules, point = rules, iteration = rules;
  ++seed.seed;
  ++point.point;
  ++iteration.iteration;
  const std::set<std::array<std::uint64_t, 4>> drawn = {words(rules, 4, 5),     words(seed, 4, 5),  words(point, 4, 5),
                                                        words(iteration, 4, 5), words(rules, 5, 5), words(rules, 4, 6)};
  EXPECT_EQ(drawn.size(), 6u);
}

}  // namespace
}  // namespace plaq::dca
