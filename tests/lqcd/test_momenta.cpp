// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/gauge/exponential.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/gauge/momenta.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/solver/solver.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{4, 4, 8, 4};

struct start {
  explicit start(const lattice& on = lattice(extents), int lanes = max_lanes<double>())
      : gauge(std::make_shared<site_layout>(on, std::min(lanes, max_lanes<double>()))), P(gauge.shared_layout()) {
    hot_start(gauge, 3);
    gaussian_momenta(P, 7, 2);
  }
  links<double> gauge;
  momenta P;
};

double distance(const links<double>& a, const links<double>& b) {
  double most = 0;
  for_each_site(a.layout(), [&](const coordinates&, site_layout::location at) {
    for (int i = 0; i < 36; ++i) most = std::fmax(most, std::abs(a.get(at, i) - b.get(at, i)));
  });
  return most;
}

/// sum over links of 2 Re tr P^+ F, which is dS/dtau along P, where F is `factor` times the part of m that kick()
/// takes.
double slope(rank_context& ranks, const momenta& P, const links<double>& m, double factor) {
  momenta F(P.shared_layout());
  kick(ranks.ctx, F, m, factor);
  double sum = 0;
  for (int mu = 0; mu < 4; ++mu) sum += 2 * real_trace(ranks.ctx, view(P, mu), view(F, mu));
  return sum;
}

/// dS/dtau along P by differences of fourth order.
template <class Action>
double numerical_slope(rank_context& ranks, const links<double>& gauge, const momenta& P, Action&& action) {
  const double h = 2e-3;
  const auto at = [&](double time) {
    auto u = gauge;
    move_links(ranks.ctx, u, P, time);
    return action(u);
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

TEST(momenta, an_exponential_is_its_series_for_small_matrices_and_a_homomorphism_for_large_ones) {
  start s;
  const auto a = get(view(s.P, 1), 3, 0);
  for (const double size : {1e-9, 1e-3, 0.1}) {
    auto x = a;
    for (auto& z : x) z *= size;
    su3_matrix sum{}, part{};
    for (const int i : {0, 4, 8}) part[i] = sum[i] = 1;
    for (int n = 1; n < 30; ++n) {
      part = times(part, x);
      for (auto& z : part) z /= double(n);
      for (int i = 0; i < 9; ++i) sum[i] += part[i];
    }
    const auto e = exponential(x);
    for (int i = 0; i < 9; ++i) EXPECT_LT(std::abs(e[i] - sum[i]), 1e-15) << size;
  }
  for (const double size : {0.7, 3.0, 40.0}) {
    auto x = a, back = a, twice = a;
    for (int i = 0; i < 9; ++i) x[i] *= size, back[i] *= -size, twice[i] *= 2 * size;
    const auto e = exponential(x), one = times(e, exponential(back)), square = times(e, e), both = exponential(twice);
    for (int i = 0; i < 9; ++i) {
      EXPECT_LT(std::abs(one[i] - double(i % 4 == 0)), 1e-14 * (1 + size));
      EXPECT_LT(std::abs(square[i] - both[i]), 1e-14 * (1 + size));
    }
  }
}

TEST(momenta, momenta_are_antihermitian_and_have_eight_components_of_variance_one) {
  rank_context ranks(single_rank());
  start s;
  double off = 0;
  for_each_site(s.P.layout(), [&](const coordinates&, site_layout::location at) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto p = get(view(s.P, mu), at.group, at.lane), same = antihermitian(p);
      for (int i = 0; i < 9; ++i) off = std::fmax(off, std::abs(p[i] - same[i]));
    }
  });
  EXPECT_LT(off, 1e-15);
  // sum p_a^2 / 2 over n numbers is n / 2 with variance n / 2; four standard errors.
  const double n = 8 * 4 * double(product(extents));
  EXPECT_NEAR(kinetic_energy(ranks.ctx, s.P), n / 2, 4 * std::sqrt(n / 2));
  auto other = s.P;
  gaussian_momenta(other, 7, 3);
  double overlap = 0;
  for (int mu = 0; mu < 4; ++mu) overlap += 2 * real_trace(ranks.ctx, view(s.P, mu), view(other, mu));
  EXPECT_NEAR(overlap, 0, 4 * std::sqrt(n));
}

TEST(momenta, links_move_back_to_where_they_were) {
  rank_context ranks(single_rank());
  start s;
  auto u = s.gauge;
  move_links(ranks.ctx, u, s.P, 0.8);
  EXPECT_GT(distance(u, s.gauge), 0.5);
  EXPECT_LT(unitarity_violation(ranks.ctx, u), 1e-14);
  move_links(ranks.ctx, u, s.P, -0.8);
  EXPECT_LT(distance(u, s.gauge), 1e-14);
}

TEST(momenta, the_force_of_gauge_actions_is_their_derivative) {
  // S = -c0 sum Re tr P - c1 sum Re tr R.
  rank_context ranks(single_rank());
  start s;
  links<double> m(s.gauge.shared_layout());
  for (const double c1 : {0.0, -1.4088}) {
    action_derivative(ranks.ctx, m, s.gauge, c1);
    const double planes = 18 * double(product(extents));
    const double expected = numerical_slope(ranks, s.gauge, s.P, [&](const links<double>& u) {
      return -planes * ((1 - 8 * c1) * plaquette(ranks.ctx, u).mean() + (c1 ? 2 * c1 * rectangle(ranks.ctx, u) : 0));
    });
    EXPECT_NEAR(slope(ranks, s.P, m, 0.5) / expected, 1, 1e-8) << c1;
  }
}

TEST(momenta, the_force_of_quarks_is_their_derivative) {
  // S = phi^+ W (M^+ M)^-1 W^+ phi with the twists of M and W, and without W; without and with clover term.
  rank_context ranks(single_rank());
  start s;
  for (int i = 0; i < 3; ++i) heat_bath(ranks.ctx, s.gauge, {5.6}, {.seed = 1, .chain = 0, .sweep = std::uint32_t(i)});
  const solver_options options{.steps = precision::in_double, .residual = 1e-14};
  spinors<double> phi(s.gauge.shared_layout(), sites::odd), chi(phi), X(phi), Y(phi);
  gaussian(phi, {5, 1, 0, random_purpose::pseudofermion});
  for (const auto& [ratio, csw] : {std::pair(false, 0.0), std::pair(true, 0.0), std::pair(true, 1.4)}) {
    const wilson_parameters p{.kappa = 0.13, .mu = 0.2, .theta = {1, 0.3, 0, -0.2}, .csw = csw};
    const double twist = 0.1, other = 0.4;
    const auto solve = [&](wilson<double>& M) {
      if (ratio)
        M.apply_odd(chi, phi, true, other);
      else
        chi = phi;
      EXPECT_EQ(solver(M).solve_normal(X, chi, twist, options).reason, solver_result::stop_reason::converged);
    };
    const auto action = [&](const links<double>& u) {
      wilson<double> M(ranks.ctx, u, p, s.gauge.shared_layout());
      solve(M);
      return dot(ranks.ctx, chi, X).real();
    };
    wilson<double> M(ranks.ctx, s.gauge, p, s.gauge.shared_layout());
    solve(M);
    M.apply_odd(Y, X, false, twist);
    if (ratio) combine<double>(ranks.ctx, Y, {{1, Y}, {-1, phi}});
    links<double> m(s.gauge.shared_layout());
    M.derivative(m, s.gauge, X, Y);
    const double expected = numerical_slope(ranks, s.gauge, s.P, action);
    EXPECT_NEAR(slope(ranks, s.P, m, -p.kappa) / expected, 1, 1e-8) << ratio << csw;
  }
}

TEST(momenta, the_force_of_the_determinant_of_clover_blocks_is_its_derivative) {
  rank_context ranks(single_rank());
  start s;
  for (int i = 0; i < 3; ++i) heat_bath(ranks.ctx, s.gauge, {5.6}, {.seed = 1, .chain = 0, .sweep = std::uint32_t(i)});
  const wilson_parameters p{.kappa = 0.13, .mu = 0.2, .csw = 1.4};
  links<double> m(s.gauge.shared_layout());
  wilson<double>(ranks.ctx, s.gauge, p, s.gauge.shared_layout()).log_det_derivative(m, s.gauge);
  const double expected = numerical_slope(ranks, s.gauge, s.P, [&](const links<double>& u) {
    return wilson<double>(ranks.ctx, u, p, u.shared_layout()).log_det_even();
  });
  EXPECT_NEAR(slope(ranks, s.P, m, p.kappa / 2) / expected, 1, 1e-8);
}

TEST(momenta, has_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  const wilson_parameters p{.kappa = 0.13, .mu = 0.2, .theta = {1, 0, 0, 0}, .csw = 1.2};
  const auto update = [&](rank_context& ranks, start s) {
    links<double> m(s.gauge.shared_layout());
    wilson<double> M(ranks.ctx, s.gauge, p, s.gauge.shared_layout());
    spinors<double> X(s.gauge.shared_layout(), sites::odd), Y(X);
    gaussian(X, {5, 1, 0, random_purpose::pseudofermion});
    gaussian(Y, {5, 1, 1, random_purpose::pseudofermion});
    M.derivative(m, s.gauge, X, Y);
    kick(ranks.ctx, s.P, m, 0.1);
    M.log_det_derivative(m, s.gauge);
    kick(ranks.ctx, s.P, m, 0.1);
    action_derivative(ranks.ctx, m, s.gauge, 0);
    kick(ranks.ctx, s.P, m, 0.1);
    move_links(ranks.ctx, s.gauge, s.P, 0.3);
    return s;
  };
  rank_context single(single_rank());
  const auto expected = update(single, start(lattice(extents), 1));
  const double energy = kinetic_energy(single.ctx, expected.P);
  for (const auto& [lanes, workers] : {std::pair(1, 1), std::pair(16, 2)}) {
    rank_context ranks(world(), "fiber", workers);
    for (const auto& grid : grids(extents)) {
      const auto actual = update(ranks, start(lattice(extents, grid, world().rank()), lanes));
      EXPECT_EQ(kinetic_energy(ranks.ctx, actual.P), energy);
      int different = 0;
      for_each_site(actual.gauge.layout(), [&](const coordinates& x, site_layout::location at) {
        const auto location = expected.gauge.layout().locate(x + actual.gauge.layout().lattice().origin());
        for (int i = 0; i < 36; ++i) {
          const auto a = actual.gauge.get(at, i), b = expected.gauge.get(location, i);
          different += std::memcmp(&a, &b, sizeof a) != 0;
        }
      });
      EXPECT_EQ(different, 0) << to_string(grid) << ", " << lanes << " lanes, " << workers << " workers";
    }
  }
}

TEST(momenta, are_kicked_by_the_antihermitian_traceless_part) {
  rank_context ranks(single_rank());
  start s;
  const auto m = s.gauge;
  auto P = s.P;
  kick(ranks.ctx, P, m, 0.3);
  for_each_site(P.layout(), [&](const coordinates&, site_layout::location at) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto before = get(view(s.P, mu), at.group, at.lane), after = get(view(P, mu), at.group, at.lane);
      const auto part = antihermitian(get(view(m, mu), at.group, at.lane));
      for (std::size_t i = 0; i < 9; ++i) EXPECT_LT(std::abs(after[i] - before[i] - 0.3 * part[i]), 1e-15);
    }
  });
}

TEST(momenta, of_zero_move_no_link) {
  rank_context ranks(single_rank());
  start s;
  auto u = s.gauge;
  move_links(ranks.ctx, u, momenta(s.P.shared_layout()), 1);
  EXPECT_LT(distance(u, s.gauge), 1e-14);
  EXPECT_EQ(kinetic_energy(ranks.ctx, momenta(s.P.shared_layout())), 0);
}

}  // namespace
}  // namespace plaq::lqcd
