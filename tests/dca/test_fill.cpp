// Samples from vertices and N, and the flip of one auxiliary spin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "exact_weights.hpp"
#include "plaq/dca/walk/fill.hpp"
#include "plaq/dca/walk/spin_flip.hpp"

namespace plaq::dca {
namespace {

const exact_model model = plaquette(3, 4);
const std::vector<vertex> vertices = {{2, 1, 0.4}, {0, -1, 2.5}, {2, -1, 0.1}, {3, 1, 1.7}, {0, 1, 0.6}};

/// Sample of these vertices, whose N stands in the rows `slots`.
template <class Real>
sample filled(const std::vector<vertex>& v, const std::vector<int>& slots, double sign = 1) {
  const auto exact = model.n(v);
  const int k = int(v.size());
  std::array<linalg::matrix<Real>, 2> n;
  for (int side = 0; side < 2; ++side) {
    n[side].reshape(k, k);
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < k; ++j) n[side](slots[i], slots[j]) = Real(exact[side](i, j));
  }
  sample out;
  fill<Real>(
      out, model.parameters, {v, sign}, [&](int i) { return slots[i]; },
      [&](int side, int slot) -> const Real* { return n[side].column(slot); });
  return out;
}

std::vector<int> in_order(std::size_t k) {
  std::vector<int> out(k);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

TEST(fill, orders_vertices_by_site_and_keeps_their_order_on_a_site) {
  const sample s = filled<double>(vertices, in_order(5));
  EXPECT_EQ(s.first, (std::vector{0, 2, 2, 4, 5}));
  EXPECT_EQ(s.tau, (std::vector{2.5, 0.6, 0.4, 0.1, 1.7}));
  EXPECT_EQ(s.order(), 5);
}

TEST(fill, has_the_strength_of_each_vertex_for_both_spins) {
  const sample s = filled<double>(vertices, in_order(5));
  const vertex_strength strength(model.parameters);
  const int spins[] = {-1, 1, 1, -1, 1};
  for (int p = 0; p < 5; ++p) {
    EXPECT_EQ(s.strength[0][p], strength(+1, spins[p]));
    EXPECT_EQ(s.strength[1][p], strength(-1, spins[p]));
  }
}

TEST(fill, multiplies_rows_of_N_by_the_strength) {
  const sample s = filled<double>(vertices, in_order(5));
  const auto n = model.n(vertices);
  const int from[] = {1, 4, 0, 2, 3};
  for (int side = 0; side < 2; ++side)
    for (int p = 0; p < 5; ++p) {
      EXPECT_EQ(s.n_diagonal[side][p], n[side](from[p], from[p]));
      for (int q = 0; q < 5; ++q)
        EXPECT_EQ(s.m[side](p, q), float(s.strength[side][p] * n[side](from[p], from[q]))) << p << " " << q;
    }
}

TEST(fill, does_not_depend_on_the_slots_of_the_vertices) {
  const sample plain = filled<double>(vertices, in_order(5)), permuted = filled<double>(vertices, {3, 0, 4, 1, 2});
  EXPECT_EQ(permuted.tau, plain.tau);
  for (int side = 0; side < 2; ++side) {
    EXPECT_EQ(permuted.n_diagonal[side], plain.n_diagonal[side]);
    for (int p = 0; p < 5; ++p)
      for (int q = 0; q < 5; ++q) EXPECT_EQ(permuted.m[side](p, q), plain.m[side](p, q));
  }
}

TEST(fill, from_N_in_single_precision_is_near) {
  const sample exact = filled<double>(vertices, in_order(5)), single = filled<float>(vertices, in_order(5));
  for (int p = 0; p < 5; ++p)
    for (int q = 0; q < 5; ++q)
      EXPECT_NEAR(single.m[0](p, q), exact.m[0](p, q), 1e-6 * (1 + std::abs(exact.m[0](p, q))));
}

TEST(fill, takes_the_sign_and_resets_the_weight) {
  EXPECT_EQ(filled<double>(vertices, in_order(5), -1).weight(), -1);
  sample used = filled<double>(vertices, in_order(5));
  used.mis_weight = 0.25;
  EXPECT_EQ(used.weight(), 0.25);
  fill<double>(
      used, model.parameters, {{}, 1}, [](int i) { return i; }, [](int, int) -> const double* { return nullptr; });
  EXPECT_EQ(used.weight(), 1);
  EXPECT_EQ(used.order(), 0);
  EXPECT_EQ(used.first, std::vector<int>(5)) << "all sites are empty";
  EXPECT_EQ(used.m[1].rows(), 0);
}

TEST(spin_flip, twice_restores_the_strength) {
  for (const double K : {1., 7., -0.5, -5.}) {
    const vertex_strength strength({3, 4, 4, K});
    for (const int sigma : {1, -1}) {
      const double x = strength(sigma, 1), flipped = flip_factor(x) * x;
      EXPECT_NEAR(flipped / strength(sigma, -1), 1, 1e-12) << K;
      EXPECT_NEAR(flip_factor(x) * flip_factor(flipped), 1, 1e-12) << K;
    }
  }
}

TEST(spin_flip, ratio_is_that_of_determinants) {
  for (const double K : {1., -5.}) {
    const exact_model m = plaquette(3, 4, K);
    const auto n = m.n(vertices);
    for (std::size_t p = 0; p < vertices.size(); ++p) {
      auto flipped = vertices;
      flipped[p].spin *= -1;
      double ratio = 1;
      for (int side = 0; side < 2; ++side) {
        const double x = vertex_strength(m.parameters)(side == 0 ? 1 : -1, vertices[p].spin);
        ratio *= flip_ratio(x, n[side](int(p), int(p)));
      }
      EXPECT_NEAR(ratio / double(m.weight(flipped) / m.weight(vertices)), 1, 1e-9) << "vertex " << p << ", K " << K;
    }
  }
}

}  // namespace
}  // namespace plaq::dca
