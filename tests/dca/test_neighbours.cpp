// Neighbours of a configuration against determinants from scratch, and the identity that makes their shares exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "plaq/dca/reference.hpp"
#include "plaq/dca/walk/neighbours.hpp"
#include "plaq/dca/walk/walker.hpp"
#include "small_problem.hpp"

using namespace plaq::dca;

namespace {

constexpr double beta = 6;
const torus cluster{2, 2};
const expansion parameters{beta, 6., 4, 1.};
const auto g0 = two_level_bath(cluster, beta, -0.4, 0.7).table();

std::vector<vertex> random_vertices(int k, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<vertex> out;
  for (int p = 0; p < k; ++p) {
    const int site = int(4 * uniform(random)), spin = uniform(random) < 0.5 ? 1 : -1;
    out.push_back({site, spin, beta * uniform(random)});
  }
  std::stable_sort(out.begin(), out.end(), [](const vertex& a, const vertex& b) { return a.site < b.site; });
  return out;
}

sample sample_of(const std::vector<vertex>& vertices, const expansion& p = parameters) {
  walker<double> w(p, g0, 8);
  w.reset({vertices, 1.});
  sample out;
  w.fill(out);
  return out;
}

double mean_ratio(const std::vector<vertex>& vertices) {
  const long double weight = reference::weight(parameters, *g0, vertices);
  double sum = 0;
  for (std::size_t p = 0; p < vertices.size(); ++p) {
    auto flipped = vertices;
    flipped[p].spin *= -1;
    sum += std::abs(double(reference::weight(parameters, *g0, flipped) / weight));
  }
  return sum / double(vertices.size());
}

}  // namespace

TEST(neighbours, share_is_that_of_the_determinants) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto vertices = random_vertices(1 + int(seed % 7), seed);
    EXPECT_NEAR(mis_weight(sample_of(vertices)), 1 / (1 + mean_ratio(vertices)), 1e-10) << "seed " << seed;
  }
  EXPECT_EQ(mis_weight(sample_of({})), 1);
}

TEST(neighbours, flip_gives_the_sample_of_the_flipped_configuration) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    auto vertices = random_vertices(7, seed);
    const sample before = sample_of(vertices);
    for (int p = 0; p < 7; ++p) {
      vertices[p].spin *= -1;
      const sample exact = sample_of(vertices);
      vertices[p].spin *= -1;
      sample found;
      flip(before, p, found);
      EXPECT_EQ(found.sign, exact.sign);
      for (int side = 0; side < 2; ++side) {
        double size = 1;
        for (int j = 0; j < 7; ++j)
          for (int i = 0; i < 7; ++i)
            for (const sample* x : {&exact, &before}) size = std::max(size, std::abs(double(x->m[side](i, j))));
        for (int j = 0; j < 7; ++j) {
          EXPECT_NEAR(found.strength[side][j], exact.strength[side][j], 1e-9 * std::abs(exact.strength[side][j]));
          EXPECT_NEAR(found.n_diagonal[side][j], exact.n_diagonal[side][j], 1e-5 * size);
          for (int i = 0; i < 7; ++i) EXPECT_NEAR(found.m[side](i, j), exact.m[side](i, j), 1e-4 * size);
        }
      }
    }
  }
}

// Over all spins of vertices in fixed places: sum |w| (mis_weight O of C + mean over p of mis_weight O of C_p) = sum
// |w| O.
TEST(neighbours, leave_every_average_as_it_is) {
  constexpr int k = 5, states = 1 << k;
  auto vertices = random_vertices(k, 3);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> weight, shares, value;
  for (int state = 0; state < states; ++state) {
    for (int p = 0; p < k; ++p) vertices[p].spin = state >> p & 1 ? 1 : -1;
    weight.push_back(std::abs(double(reference::weight(parameters, *g0, vertices))));
    shares.push_back(mis_weight(sample_of(vertices)));
    value.push_back(normal(random));
  }
  double exact = 0, found = 0, norm = 0;
  for (int state = 0; state < states; ++state) {
    exact += weight[state] * value[state];
    norm += weight[state];
    found += weight[state] * shares[state] * value[state];
    for (int p = 0; p < k; ++p) {
      const int other = state ^ 1 << p;
      found += weight[state] * shares[other] * value[other] / k;
    }
  }
  EXPECT_NEAR(found / norm, exact / norm, 1e-9);
}

TEST(neighbours, without_interaction_are_all_alike) {
  expansion free = parameters;
  free.U = 0;
  const sample s = sample_of(random_vertices(6, 1), free);
  EXPECT_EQ(mis_weight(s), 0.5);
  sample out;
  flip(s, 2, out);
  EXPECT_EQ(out.sign, s.sign);
  EXPECT_EQ(mis_weight(out), 0.5);
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < 6; ++i) EXPECT_EQ(out.m[0](i, j), 0.f);
}
