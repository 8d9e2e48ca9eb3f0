#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "dense_operators.hpp"
#include "plaq/lqcd/dirac/clover.hpp"
#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/reference/reference.hpp"
#include "plaq/lqcd/solver/solver.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

using reference::number;

TEST(clover, is_the_formula_with_dense_matrices) {
  // 1 + i kappa c_sw sum sigma F, F = (Q - Q^+) / 8 of the four leaves, and nothing between chiralities.
  rank_context ranks(single_rank());
  const coordinates box{4, 2, 4, 4};
  links<double> u(std::make_shared<site_layout>(lattice(box), max_lanes<double>()));
  hot_start(u, 3);
  const double kappa_csw = 0.2;
  const auto H = clover_term(ranks.ctx, u, kappa_csw);
  const auto whole = reference::whole(u);
  for (const coordinates x : {coordinates{0, 0, 0, 0}, coordinates{3, 1, 2, 3}, coordinates{1, 0, 3, 2}}) {
    const auto matrix = dense::clover(box, whole, x, kappa_csw);
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 12; ++j) {
        const auto actual = i / 6 == j / 6 ? get_block(H, u.layout().locate(x), i / 6)[6 * (i % 6) + j % 6] : 0.0;
        EXPECT_LT(std::abs(actual - matrix[std::size_t(12 * i + j)]), 1e-14) << i << " " << j << " " << to_string(x);
      }
  }
}

class clover_inverse : public testing::TestWithParam<double> {};

TEST_P(clover_inverse, is_the_inverse_with_its_determinant) {
  rank_context ranks(single_rank());
  links<double> u(std::make_shared<site_layout>(lattice({4, 2, 4, 4}), max_lanes<double>()));
  hot_start(u, 3);
  const double twist = GetParam();
  const auto H = clover_term(ranks.ctx, u, 0.4);
  const auto even = invert_on_even_sites(ranks.ctx, H, twist);
  double worst = 0, log_det = 0;
  for (std::int64_t b = 0; b < u.layout().half(); ++b)
    for (int l = 0; l < u.lanes(); ++l)
      for (int c = 0; c < 2; ++c) {
        const auto h = get_block(H, {b, l}, c), inverse = get_block(even.inverse, {b, l}, c);
        number a[6][6], expected[6][6];  // the inverse's inverse: H, or H^2 + twist^2
        for (int i = 0; i < 36; ++i) {
          a[i / 6][i % 6] = h[i] + number(0, i % 7 ? 0 : c ? -twist : twist);
          expected[i / 6][i % 6] = twist == 0 ? h[i] : i % 7 ? 0 : twist * twist;
          for (int k = 0; k < 6 && twist != 0; ++k) expected[i / 6][i % 6] += h[i / 6 * 6 + k] * h[6 * k + i % 6];
        }
        for (int i = 0; i < 36; ++i) {
          number sum = 0;
          for (int k = 0; k < 6; ++k) sum += expected[i / 6][k] * inverse[6 * k + i % 6];
          worst = std::fmax(worst, std::abs(sum - double(i % 7 == 0)));
        }
        for (int p = 0; p < 6; ++p) {  // elimination without pivots
          log_det += std::log(std::abs(a[p][p]));
          for (int r = p + 1; r < 6; ++r)
            for (int k = 5; k >= p; --k) a[r][k] -= a[r][p] / a[p][p] * a[p][k];
        }
      }
  EXPECT_LT(worst, 1e-12);
  EXPECT_NEAR(even.log_det, log_det, 1e-10 * std::abs(log_det));
}
INSTANTIATE_TEST_SUITE_P(twists, clover_inverse, testing::Values(0.0, 0.3));

TEST(clover, products_are_those_of_the_matrices) {
  // Both factors, with a twist, added to the output; in place.
  rank_context ranks(single_rank());
  const auto layout = std::make_shared<site_layout>(lattice({4, 2, 4, 4}), max_lanes<double>());
  links<double> u(layout);
  hot_start(u, 3);
  const auto H = clover_term(ranks.ctx, u, 0.4);
  const auto P = invert_on_even_sites(ranks.ctx, H, 0.3).inverse;
  spinors<double> psi(layout, sites::even), actual(layout, sites::even);
  gaussian(psi, 1), gaussian(actual, 2);
  const auto before = actual;
  const chiral_factor<double> factors[] = {{P.of(0), 0.0}, {H.of(0), -0.3}};
  multiply_chiral<double>(layout->lanes(), 0, std::size_t(layout->half()), actual.of(0), factors, psi.of(0), true);
  auto in_place = psi;
  multiply_chiral<double>(layout->lanes(), 0, std::size_t(layout->half()), in_place.of(0), factors, in_place.of(0),
                          false);
  for (std::int64_t b = 0; b < layout->half(); ++b)
    for (int l = 0; l < layout->lanes(); ++l)
      for (int c = 0; c < 2; ++c) {
        const auto h = get_block(H, {b, l}, c), p = get_block(P, {b, l}, c);
        std::array<number, 6> x{}, y{};
        for (int i = 0; i < 6; ++i)
          for (int k = 0; k < 6; ++k) x[i] += p[6 * i + k] * psi.get({b, l}, 6 * c + k);
        for (int i = 0; i < 6; ++i) {
          y[i] = number(0, c ? 0.3 : -0.3) * x[i];
          for (int k = 0; k < 6; ++k) y[i] += h[6 * i + k] * x[k];
          EXPECT_LT(std::abs(in_place.get({b, l}, 6 * c + i) - y[i]), 1e-13);
          EXPECT_LT(std::abs(actual.get({b, l}, 6 * c + i) - before.get({b, l}, 6 * c + i) - y[i]), 1e-13);
        }
      }
}

/// The smallest |M psi| / |psi| in a field with one quantum of flux in two planes, for which there are zero modes
/// in the continuum; at the critical kappa of free fields.
double smallest(rank_context& ranks, double csw) {
  const coordinates box{8, 8, 8, 8};
  links<double> u(std::make_shared<site_layout>(lattice(box), max_lanes<double>()));
  cold_start(u);
  for_each_site(u.layout(), [&](const coordinates& x, site_layout::location p) {
    for (const int mu : {0, 2}) {
      const int nu = mu + 1;
      const double angle = 2 * std::numbers::pi / (box[mu] * box[nu]);
      const auto turn = [&](int direction, double phi) {
        u.set(p, 9 * direction, std::polar(1.0, phi) * u.get(p, 9 * direction));
        u.set(p, 9 * direction + 4, std::polar(1.0, -phi) * u.get(p, 9 * direction + 4));
      };
      turn(nu, angle * x[mu]);
      if (x[mu] == box[mu] - 1) turn(mu, -angle * box[mu] * x[nu]);
    }
  });
  wilson<double> M(ranks.ctx, u, {.kappa = 0.125, .mu = 0, .theta = {1, 1, 1, 1}, .csw = csw}, u.shared_layout());
  solver inverse(M);
  spinors<double> psi(u.shared_layout()), eta(psi);
  gaussian(psi, 1);
  double size = 0;
  for (int i = 0; i < 4; ++i) {  // (M^+ M)^-1 = M^-1 gamma5 M^-1 gamma5
    for (int j = 0; j < 2; ++j) {
      combine<double>(ranks.ctx, eta, {linear_term<double>::gamma5(psi)});
      EXPECT_EQ(inverse.solve(psi, eta, {.steps = precision::in_double, .residual = 1e-6}).reason,
                solver_result::stop_reason::converged);
    }
    combine<double>(ranks.ctx, psi, {{1 / std::sqrt(norm2(ranks.ctx, psi)), psi}});
    M.apply(eta, psi);
    size = std::sqrt(norm2(ranks.ctx, eta));
  }
  return size;
}

TEST(clover, takes_away_what_a_field_strength_adds_to_the_mass_of_zero_modes) {
  // Wilson's term adds (|F_01| + |F_23|) / 2 to it, times 2 kappa in M; with c_sw = 1 that is gone to first order,
  // with c_sw = -1 it is twice that.
  rank_context ranks(single_rank());
  const double F = 2 * std::numbers::pi / 64, first_order = 0.25 * F;
  EXPECT_NEAR(smallest(ranks, 0) / first_order, 1, 0.15);
  EXPECT_LT(smallest(ranks, 1) / first_order, 0.15);
  EXPECT_NEAR(smallest(ranks, -1) / first_order, 2, 0.3);
}

}  // namespace
}  // namespace plaq::lqcd
