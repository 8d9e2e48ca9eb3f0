#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "plaq/dca/walk/occupation.hpp"

using namespace plaq::dca;

namespace {
const expansion parameters{4., 6., 2, 1.};
const occupation guess(parameters);
const double along = vertex_strength(parameters)(1, 1);  // e^gamma - 1
using spins = occupation::spins;
}  // namespace

// Weights of the expansion, summed over the spin of a vertex.
TEST(occupation, rates_are_what_vertices_are_worth) {
  const double each = parameters.K / (2 * parameters.beta * parameters.sites), gamma = std::log1p(along);
  EXPECT_DOUBLE_EQ(guess.rate(occupation::even), 2 * each);
  EXPECT_NEAR(guess.rate(occupation::single_up), each * (std::exp(gamma) + std::exp(-gamma)), 1e-12);
  EXPECT_NEAR(guess.rate(occupation::single_down), guess.rate(occupation::single_up), 1e-12);
}

TEST(occupation, density_is_that_of_two_poisson_processes) {
  const double L = 0.7, gamma = std::log1p(along), each = parameters.K / (2 * parameters.beta * parameters.sites);
  const occupation::probabilities up = {0, 1, 0};
  const double expected =
      std::exp(-guess.rate(occupation::single_up) * L) * std::pow(each * std::exp(gamma), 3) * each * std::exp(-gamma);
  EXPECT_NEAR(guess.density({3, 1}, L, up) / expected, 1, 1e-9);
  const occupation::probabilities mixed = {0.2, 0.5, 0.3};
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    occupation::probabilities pure{};
    pure[k] = 1;
    sum += mixed[k] * guess.density({2, 1}, L, pure);
  }
  EXPECT_NEAR(guess.density({2, 1}, L, mixed) / sum, 1, 1e-12);
}

// Over all numbers of vertices, each of which may be anywhere: sum of density L^(u + d)/(u! d!).
TEST(occupation, densities_add_up_to_one) {
  const double L = 0.9;
  double total = 0;
  for (int u = 0; u < 30; ++u)
    for (int d = 0; d < 30; ++d)
      total += guess.density({u, d}, L, {0.2, 0.5, 0.3}) * std::pow(L, u + d) / std::tgamma(u + 1) / std::tgamma(d + 1);
  EXPECT_NEAR(total, 1, 1e-12);
}

TEST(occupation, draws_as_its_density_says) {
  const double L = 0.5;
  const occupation::probabilities c = {0.3, 0.5, 0.2};
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> u(0, 1);
  std::map<std::pair<int, int>, int> found;
  const int draws = 200'000;
  for (int i = 0; i < draws; ++i) {
    const auto kind = guess.draw_state(c, u(random));
    const int n = guess.draw_number(kind, L, u(random), 20);
    std::pair<int, int> drawn;
    for (int j = 0; j < n; ++j) ++(guess.draw_spin(kind, u(random)) > 0 ? drawn.first : drawn.second);
    ++found[drawn];
  }
  int compared = 0;
  for (int up = 0; up < 6; ++up)
    for (int down = 0; down < 6; ++down) {
      const double p =
          guess.density({up, down}, L, c) * std::pow(L, up + down) / std::tgamma(up + 1) / std::tgamma(down + 1);
      if (p * draws < 50) continue;
      ++compared;
      EXPECT_NEAR((found[{up, down}]), p * draws, 4 * std::sqrt(p * draws)) << up << ' ' << down;
    }
  EXPECT_GT(compared, 8);
}

TEST(occupation, a_number_beyond_the_most_is_told_as_such) {
  EXPECT_EQ(guess.draw_number(occupation::single_up, 1., 0., 3), 0);
  EXPECT_EQ(guess.draw_number(occupation::single_up, 1., 1 - 1e-15, 3), 4);
  EXPECT_EQ(guess.draw_number(occupation::even, 0., 0.999, 3), 0);
}

TEST(occupation, an_electron_that_comes_finds_an_empty_site_or_one_of_the_other_spin) {
  const double L = 1.2;  // 3.75 vertices where there is one electron
  const auto likely = [&](spins before, int side, bool added) {
    const auto c = guess.probabilities_after(before, L, side, added);
    EXPECT_NEAR(c[0] + c[1] + c[2], 1, 1e-12);
    for (const double p : c) EXPECT_GE(p, occupation::admixture / 3);
    return std::ranges::max_element(c) - c.begin();
  };
  EXPECT_EQ(likely({0, 0}, 0, true), occupation::single_up);
  EXPECT_EQ(likely({0, 0}, 1, true), occupation::single_down);
  EXPECT_EQ(likely({0, 4}, 0, true), occupation::even);
  EXPECT_EQ(likely({4, 0}, 0, true), occupation::single_up);  // cannot be: it is kept
  EXPECT_EQ(likely({4, 0}, 0, false), occupation::even);
  EXPECT_EQ(likely({0, 0}, 0, false), occupation::single_down);  // of a pair one is left
  EXPECT_EQ(likely({0, 0}, 1, false), occupation::single_up);
  EXPECT_EQ(likely({0, 4}, 1, false), occupation::even);
}
