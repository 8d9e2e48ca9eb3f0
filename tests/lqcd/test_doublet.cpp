#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "plaq/lqcd/dirac/doublet.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/solver/solver.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{8, 4, 4, 6};
const doublet_parameters split{.kappa = 0.131, .mu = 0.25, .epsilon = 0.17, .theta = {1, 0.3, 0, -0.2}};

struct one_rank {
  rank_context ranks{single_rank()};
  std::shared_ptr<const site_layout> layout = std::make_shared<site_layout>(lattice(extents), max_lanes<double>());
  links<double> gauge{layout};
  one_rank() { hot_start(gauge, 3); }

  flavours<double> zero(sites subset = sites::all) const {
    return {spinors<double>(layout, subset), spinors<double>(layout, subset)};
  }
  flavours<double> random(std::uint32_t number, sites subset = sites::all) const {
    auto f = zero(subset);
    gaussian(f.up, 5, 2 * number), gaussian(f.down, 5, 2 * number + 1);
    return f;
  }
  std::complex<double> product(const flavours<double>& x, const flavours<double>& y) {
    return dot(ranks.ctx, x.up, y.up) + dot(ranks.ctx, x.down, y.down);
  }
  double distance(const spinors<double>& a, const spinors<double>& b) {
    spinors<double> d(a);
    return std::sqrt(combine_norm2<double>(ranks.ctx, d, {{1, a}, {-1, b}}) / norm2(ranks.ctx, b));
  }
  /// gamma_5 tau_1 x
  flavours<double> turned(const flavours<double>& x) {
    auto y = x;
    combine<double>(ranks.ctx, y.up, {linear_term<double>::gamma5(x.down)});
    combine<double>(ranks.ctx, y.down, {linear_term<double>::gamma5(x.up)});
    return y;
  }
};

TEST(doublet, is_its_own_adjoint_between_gamma5_tau1) {
  one_rank s;
  doublet<double> M(s.ranks.ctx, s.gauge, split, s.layout);
  const auto x = s.random(1), y = s.random(2);
  auto Mx = s.zero(), adjoint = s.zero();
  M.apply(Mx, x);
  M.apply(adjoint, y, true);
  const auto expected = s.product(y, Mx);
  EXPECT_LT(std::abs(s.product(adjoint, x) - expected), 1e-10 * std::abs(expected));
  M.apply(Mx, s.turned(y));
  const auto turned = s.turned(Mx);
  EXPECT_LT(s.distance(turned.up, adjoint.up), 1e-14);
  EXPECT_LT(s.distance(turned.down, adjoint.down), 1e-14);
}

TEST(doublet, of_equal_masses_is_two_twisted_operators) {
  one_rank s;
  auto p = split;
  p.epsilon = 0;
  doublet<double> M(s.ranks.ctx, s.gauge, p, s.layout);
  const auto x = s.random(1), odd = s.random(3, sites::odd);
  auto Mx = s.zero(), M_odd = s.zero(sites::odd);
  for (const bool dagger : {false, true}) {
    M.apply(Mx, x, dagger);
    M.apply_odd(M_odd, odd, dagger);
    for (const double sign : {1.0, -1.0}) {
      wilson<double> W(s.ranks.ctx, s.gauge, {.kappa = p.kappa, .mu = sign * p.mu, .theta = p.theta}, s.layout);
      spinors<double> Wx(s.layout), W_odd(s.layout, sites::odd);
      W.apply(Wx, sign > 0 ? x.up : x.down, dagger);
      W.apply_odd(W_odd, sign > 0 ? odd.up : odd.down, dagger);
      EXPECT_LT(s.distance(sign > 0 ? Mx.up : Mx.down, Wx), 1e-14);
      EXPECT_LT(s.distance(sign > 0 ? M_odd.up : M_odd.down, W_odd), 1e-14);
    }
  }
}

TEST(doublet, of_free_flavours_is_diagonal_in_momentum_space) {
  // M = w + e tau_1 + i B, B = 2 kappa sum gamma sin p + m gamma_5 tau_3, so that on plane waves M^+ M is
  // w^2 + e^2 + 4 kappa^2 sum sin^2 p + m^2 + 2 e w tau_1 + i [e tau_1, B], and the last is 2 e m gamma_5 tau_2.
  one_rank s;
  cold_start(s.gauge);
  doublet<double> M(s.ranks.ctx, s.gauge, split, s.layout);
  const coordinates n{3, 1, 2, 5};
  double cosines = 0, sines = 0;
  std::array<double, 4> wave;
  for (int mu = 0; mu < 4; ++mu) {
    wave[mu] = 2 * std::numbers::pi * n[mu] / extents[mu];
    const double p = wave[mu] + std::numbers::pi * split.theta[mu] / extents[mu];
    cosines += std::cos(p), sines += std::sin(p) * std::sin(p);
  }
  const double k = split.kappa, m = 2 * k * split.mu, e = 2 * k * split.epsilon, w = 1 - 2 * k * cosines;
  auto psi = s.zero(), Mpsi = s.zero(), MMpsi = s.zero(), expected = s.zero();
  for_each_site(*s.layout, [&](const coordinates& x, site_layout::location p) {
    double px = 0;
    for (int mu = 0; mu < 4; ++mu) px += wave[mu] * x[mu];
    for (int i = 0; i < 12; ++i)
      psi.up.set(p, i, std::polar(1.0 + i, px + i)), psi.down.set(p, i, (2.0 - i) * std::polar(1.0, px - 2 * i));
  });
  M.apply(Mpsi, psi);
  M.apply(MMpsi, Mpsi, true);
  const double diagonal = w * w + 4 * k * k * sines + m * m + e * e;
  combine<double>(s.ranks.ctx, expected.up,
                  {{diagonal, psi.up}, linear_term<double>::chiral({2 * e * w, -2 * e * m}, psi.down)});
  combine<double>(s.ranks.ctx, expected.down,
                  {{diagonal, psi.down}, linear_term<double>::chiral({2 * e * w, 2 * e * m}, psi.up)});
  EXPECT_LT(s.distance(MMpsi.up, expected.up), 1e-13);
  EXPECT_LT(s.distance(MMpsi.down, expected.down), 1e-13);
}

TEST(doublet, is_solved_on_odd_sites_for_all) {
  one_rank s;
  doublet<double> M(s.ranks.ctx, s.gauge, split, s.layout);
  solver inverse(M);
  const auto eta = s.random(1);
  auto psi = s.zero(), back = s.zero();
  const auto result = inverse.solve(psi, eta, {.residual = 1e-10});
  EXPECT_EQ(result.reason, solver_result::stop_reason::converged) << result.to_string();
  M.apply(back, psi);
  EXPECT_LT(s.distance(back.up, eta.up), 1e-9);
  EXPECT_LT(s.distance(back.down, eta.down), 1e-9);
  EXPECT_EQ(inverse.solve(psi, eta, {.residual = 1e-10, .max_steps = 3}).reason,
            solver_result::stop_reason::out_of_steps);
  EXPECT_EQ(inverse.solve(psi, eta, {.residual = 1e-30}).reason, solver_result::stop_reason::stalled);
  EXPECT_THROW(inverse.solve(psi, eta, {.residual = 0}), input_error);
}

TEST(doublet, is_solved_for_several_shifts_in_the_steps_of_the_smallest) {
  one_rank s;
  doublet<double> M(s.ranks.ctx, s.gauge, split, s.layout);
  solver inverse(M);
  const auto phi = s.random(4, sites::odd);
  std::vector<flavours<double>> x(3, phi), alone(1, phi);
  const std::vector<double> shifts{0.1, 0.002, 3};
  const auto result = inverse.solve_shifted(x, phi, shifts, {.residual = 1e-11});
  EXPECT_EQ(result.reason, solver_result::stop_reason::converged) << result.to_string();
  const auto smallest = inverse.solve_shifted(alone, phi, {shifts[1]}, {.residual = 1e-11});
  EXPECT_NEAR(result.steps, smallest.steps, 1);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    auto Mx = s.zero(sites::odd), left = Mx;
    M.apply_odd(Mx, x[i]);
    M.apply_odd(left, Mx, true);
    double off = 0;
    for_each_flavour(
        [&](auto& l, auto& of, auto& y) {
          off += combine_norm2<double>(s.ranks.ctx, l, {{1, of}, {-1, l}, {-shifts[i], y}});
        },
        left, phi, x[i]);
    EXPECT_LT(std::sqrt(off / norm2(s.ranks.ctx, phi)), 1.01e-11) << shifts[i];
  }
}

TEST(doublet, without_an_inverse_on_even_sites_is_refused) {
  one_rank s;
  EXPECT_THROW(doublet<double>(s.ranks.ctx, s.gauge, {.kappa = 0.125, .mu = 0, .epsilon = 4.0}, s.layout), input_error);
}

}  // namespace
}  // namespace plaq::lqcd
