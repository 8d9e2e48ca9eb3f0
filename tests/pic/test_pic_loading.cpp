// Initial particles: positions and distributions.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "plans.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/neighbours.hpp"

namespace plaq::pic {
namespace {

using namespace test;

TEST(pic_loading, positions_do_not_depend_on_patches) {
  for (const bool even : {false, true}) {
    std::map<std::vector<double>, int> positions[2];
    for (int cut = 0; cut < 2; ++cut) {
      const plan p = periodic(2, 1, 8, cut ? 3 : 1);
      for (int n = 0; n < (cut ? 9 : 1); ++n) {
        const patch_grid m(p, point_of(patch_of(p, n)));
        const auto x = make_positions(p, m, 4, 6, even);
        ASSERT_EQ(x.size(), own_cells(m).size() * 12);
        for (std::size_t i = 0; i < x.size(); i += 2) ++positions[cut][{x[i], x[i + 1]}];
      }
    }
    EXPECT_EQ(positions[0], positions[1]);
    EXPECT_EQ(positions[0].size(), 8u * 9 * 6);
  }
}

TEST(pic_loading, even_positions_are_a_grid) {
  const plan p = periodic(2, 1, 4, 1);
  const auto x = make_positions(p, patch_grid(p, {}), 0, 6, true);  // 3 x 2
  EXPECT_NEAR(x[0], 0.2 / 6, 1e-15);
  EXPECT_NEAR(x[1], 0.2 / 4, 1e-15);
  EXPECT_NEAR(x[2] - x[0], 0.2 / 3, 1e-15);
  const plan three = periodic(3, 1, 4, 1);
  const auto y = make_positions(three, patch_grid(three, {}), 0, 8, true);
  EXPECT_NEAR(y[2], 0.05, 1e-15);
  EXPECT_THROW(make_positions(p, patch_grid(p, {}), 0, 0, true), input_error);
}

TEST(pic_loading, streams_are_independent) {
  const plan p = periodic(1, 1, 4, 1);
  const patch_grid m(p, {});
  EXPECT_EQ(make_positions(p, m, 1, 9, false), make_positions(p, m, 1, 9, false));
  EXPECT_NE(make_positions(p, m, 1, 9, false), make_positions(p, m, 2, 9, false));
}

struct moments {
  double mean[3] = {}, square[3] = {}, gamma = 0;
  double n = 0;
};
moments of_loaded(const std::array<double, 3>& drift, double thermal, bool juttner, int per_cell = 2000) {
  const plan p = periodic(1, 1, 16, 1);
  patch<double> self(p, {});
  const auto x = make_positions(p, self.mesh, 0, per_cell, false);
  std::vector<double> w(x.size(), 0.5), u, t(3 * x.size(), thermal);
  for (std::size_t i = 0; i < x.size(); ++i) u.insert(u.end(), drift.begin(), drift.end());
  load(p, self, 0, {x, w, u, t, juttner});
  moments out;
  const auto& all = self.species[0];
  out.n = double(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    double u2 = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      out.mean[c] += all.u[c][i] / out.n, out.square[c] += all.u[c][i] * all.u[c][i] / out.n;
      u2 += all.u[c][i] * all.u[c][i];
    }
    out.gamma += std::sqrt(1 + u2) / out.n;
  }
  return out;
}

// 32 000 draws: 4 standard errors.
TEST(pic_loading, maxwell_has_its_mean_and_variance) {
  const moments m = of_loaded({0.3, 0, -1}, 0.2, false);
  const double error = 0.2 / std::sqrt(m.n);
  EXPECT_EQ(m.n, 32000);
  const double drift[3] = {0.3, 0, -1};
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(m.mean[c], drift[c], 4 * error);
    EXPECT_NEAR(m.square[c] - m.mean[c] * m.mean[c], 0.04, 4 * 0.04 * std::sqrt(2 / m.n));
  }
}

// K_n(z), for large z by its asymptotic series times e^z: only ratios are used.
double bessel(double n, double z) {
  if (z < 50) return std::cyl_bessel_k(n, z) * std::exp(z);
  const double m = 4 * n * n;
  return std::sqrt(std::numbers::pi / (2 * z)) *
         (1 + (m - 1) / (8 * z) * (1 + (m - 9) / (16 * z) * (1 + (m - 25) / (24 * z))));
}

// <gamma> = 3 T + K_1(1/T) / K_2(1/T), <gamma^2> = 1 + 3 <u_x^2> = 1 + 3 T K_3(1/T) / K_2(1/T), from cold to hot.
TEST(pic_loading, juttner_has_its_moments_from_cold_to_hot) {
  for (const double T : {1e-4, 0.01, 0.1, 0.5, 5.0}) {
    const double expected = 3 * T + bessel(1, 1 / T) / bessel(2, 1 / T), u2 = T * bessel(3, 1 / T) / bessel(2, 1 / T);
    const moments m = of_loaded({0, 0, 0}, T, true);
    const double sigma = std::sqrt(1 + 3 * u2 - expected * expected);
    EXPECT_NEAR(m.gamma, expected, 4 * sigma / std::sqrt(m.n)) << T;
    for (int c = 0; c < 3; ++c) {
      EXPECT_NEAR(m.mean[c], 0, 4 * std::sqrt(u2 / m.n)) << T;
      EXPECT_NEAR(m.square[c], u2, 0.04 * u2) << T;
    }
  }
  const auto at_rest = draw_juttner({.seed = 1}, 0, 0);
  EXPECT_EQ(at_rest[0], 0);
}

// In the box <u_x> = U (<gamma'> + T) for the drift U.
TEST(pic_loading, juttner_drifts_with_energy_and_pressure) {
  const double T = 0.5, drift = 1.5, gamma = 3 * T + bessel(1, 1 / T) / bessel(2, 1 / T);
  const moments m = of_loaded({drift, 0, 0}, T, true);
  const double spread = std::sqrt(m.square[0] - m.mean[0] * m.mean[0]);
  EXPECT_NEAR(m.mean[0], drift * (gamma + T), 4 * spread / std::sqrt(m.n));
  EXPECT_GT(drift * T, 20 * spread / std::sqrt(m.n));  // the difference without flip_along
  const std::array<double, 3> u{-3, 1, 0}, along{2, 0, 0};
  EXPECT_EQ(flip_along(u, along, 0)[0], 3);
  EXPECT_EQ(flip_along({3, 1, 0}, along, 0)[0], 3);
  EXPECT_EQ(flip_along(u, along, ~std::uint64_t(0))[0], -3);
  EXPECT_EQ(flip_along(u, {0, 0, 0}, 0)[0], -3);
}

TEST(pic_loading, boosts_add_rapidities) {
  const auto at_rest = boost({0, 0, 0}, {0.3, -2, 1});
  EXPECT_NEAR(at_rest[1], -2, 1e-14);
  // Along a line rapidities add up.
  const auto u = boost({std::sinh(0.7), 0, 0}, {std::sinh(1.1), 0, 0});
  EXPECT_NEAR(u[0], std::sinh(1.8), 1e-13);
  EXPECT_EQ(u[1], 0);
}

TEST(pic_loading, particles_elsewhere_or_not_finite_are_errors) {
  const plan p = periodic(1, 1, 8, 2);
  patch<float> self(p, {1, 0, 0});
  const std::vector<double> inside{1.0}, outside{0.3}, w{1}, u{0, 0, 0}, bad{0, std::nan(""), 0};
  load(p, self, 0, {inside, w, u, u, false});
  EXPECT_EQ(self.size(), 1u);
  try {
    load(p, self, 0, {outside, w, u, u, false});
    FAIL();
  } catch (const input_error& e) {
    EXPECT_STREQ(e.what(), "load: a particle of \"electrons\" at 0.300000 is not in patch 1");
  }
  EXPECT_THROW(load(p, self, 0, {inside, w, bad, u, false}), input_error);
  EXPECT_THROW(load(p, self, 0, {inside, w, w, u, false}), input_error);
  EXPECT_EQ(self.size(), 1u);
}

}  // namespace
}  // namespace plaq::pic
