// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/gauge/flow.hpp"
#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/gauge/staples.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/reference/reference.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

links<double> rough(rank_context& ranks, const lattice& on, int lanes) {
  links<double> u(std::make_shared<site_layout>(on, lanes));
  hot_start(u, 11);
  for (std::uint32_t i = 0; i < 5; ++i) heat_bath(ranks.ctx, u, {6.5}, {.seed = 1, .chain = 0, .sweep = i});
  return u;
}

/// Links diag(exp(i phi), exp(-i phi), 1) with the same flux, 2 pi n / (L L'), through every plaquette of two
/// planes.
links<double> constant_flux(const coordinates& box, int n01, int n23) {
  links<double> u(std::make_shared<site_layout>(lattice(box), max_lanes<double>()));
  cold_start(u);
  for_each_site(u.layout(), [&](const coordinates& x, site_layout::location p) {
    const auto plane = [&](int mu, int nu, int n) {
      const double angle = 2 * std::numbers::pi * n / (box[mu] * box[nu]);
      const auto turn = [&](int direction, double phi) {
        u.set(p, 9 * direction, std::polar(1.0, phi) * u.get(p, 9 * direction));
        u.set(p, 9 * direction + 4, std::polar(1.0, -phi) * u.get(p, 9 * direction + 4));
      };
      turn(nu, angle * x[mu]);
      if (x[mu] == box[mu] - 1) turn(mu, -angle * box[mu] * x[nu]);
    };
    plane(0, 1, n01);
    plane(2, 3, n23);
  });
  return u;
}

TEST(flow, constant_abelian_fields_have_their_energy_and_charge) {
  // F = i sin(phi) diag(1, -1, 0) in a plane of flux phi: E = 2 (sin^2 phi_01 + sin^2 phi_23), and
  // Q = V 2 sin phi_01 sin phi_23 / (4 pi^2), which is 2 n_01 n_23 where the flux is weak.
  rank_context ranks(single_rank());
  const coordinates box{8, 6, 4, 8};
  const auto u = constant_flux(box, 1, 2);
  const double a = std::sin(2 * std::numbers::pi / (8 * 6)), b = std::sin(2 * std::numbers::pi * 2 / (4 * 8));
  const auto actual = energy_and_charge(ranks.ctx, u);
  EXPECT_NEAR(actual.energy, 2 * (a * a + b * b), 1e-13);
  EXPECT_NEAR(actual.charge, 2 * a * b * double(product(box)) / (4 * std::numbers::pi * std::numbers::pi), 1e-12);
}

TEST(flow, keeps_constant_fields_and_lowers_the_action_of_others) {
  rank_context ranks(single_rank());
  auto flat = constant_flux({8, 4, 4, 4}, 1, 1);
  const double before = plaquette(ranks.ctx, flat).mean();
  flow_step(ranks.ctx, flat, 0.05);
  EXPECT_NEAR(plaquette(ranks.ctx, flat).mean(), before, 1e-14);
  auto u = rough(ranks, lattice({4, 4, 4, 8}), max_lanes<double>());
  double last = plaquette(ranks.ctx, u).mean();
  for (int i = 0; i < 10; ++i) {
    flow_step(ranks.ctx, u, 0.02);
    const double now = plaquette(ranks.ctx, u).mean();
    EXPECT_GT(now, last);
    last = now;
  }
  EXPECT_GT(last, 0.8);
  EXPECT_LT(unitarity_violation(ranks.ctx, u), 1e-14);
}

TEST(flow, starts_with_the_slope_of_the_action) {
  // A link changes the plaquettes that it is in by Re tr (Z U staple^+), of which Z is the negative traceless
  // antihermitian part: d/dt sum of Re tr P = sum over links of |Z|^2.
  rank_context ranks(single_rank());
  auto u = rough(ranks, lattice({4, 4, 4, 4}), 1);
  matrices staple(u.shared_layout());
  double slope = 0;
  for (int mu = 0; mu < 4; ++mu)
    for (const int p : {0, 1}) {
      staples(ranks.ctx, staple, u, p, mu);
      for (std::int64_t b = p * u.layout().half(); b < (p + 1) * u.layout().half(); ++b) {
        const auto w = times_adjoint(get(view(u, mu), b, 0), get(view(staple), b, 0));
        std::complex<double> trace = 0;
        for (int i = 0; i < 3; ++i) trace += (w[4 * i] - std::conj(w[4 * i])) / 6.0;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            slope += std::norm((w[3 * i + j] - std::conj(w[3 * j + i])) / 2.0 - (i == j ? trace : 0.0));
      }
    }
  const double planes = 18 * double(u.layout().lattice().volume()), h = 1e-4;
  auto ahead = u;
  const double before = plaquette(ranks.ctx, u).mean();
  flow_step(ranks.ctx, ahead, h);
  EXPECT_NEAR((plaquette(ranks.ctx, ahead).mean() - before) * planes / h / slope, 1, 100 * h);
}

TEST(flow, steps_are_of_third_order) {
  rank_context ranks(single_rank());
  const auto start = rough(ranks, lattice({4, 4, 4, 4}), max_lanes<double>());
  const auto after = [&](int steps) {
    auto u = start;
    for (int i = 0; i < steps; ++i) flow_step(ranks.ctx, u, 0.16 / steps);
    return plaquette(ranks.ctx, u).mean();
  };
  const double exact = after(64), coarse = after(4) - exact, fine = after(8) - exact;
  EXPECT_NEAR(std::log2(std::abs(coarse / fine)), 3, 0.3);
}

TEST(flow, has_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  const coordinates box{8, 4, 12, 4};
  const auto measured = [](rank_context& ranks, const lattice& on, int lanes) {
    auto u = rough(ranks, on, lanes);
    flow_step(ranks.ctx, u, 0.1);
    flow_step(ranks.ctx, u, 0.1, flow_kind::zeuthen);
    const auto f = energy_and_charge(ranks.ctx, u);
    return std::array{f.energy, f.charge, plaquette(ranks.ctx, u).temporal};
  };
  rank_context single(single_rank());
  const auto expected = measured(single, lattice(box), 1);
  for (const auto& [lanes, workers] : {std::pair(1, 1), std::pair(max_lanes<double>(), 2)}) {
    rank_context ranks(world(), "fiber", workers);
    for (const auto& grid : grids(box))
      EXPECT_EQ(measured(ranks, lattice(box, grid, world().rank()), lanes), expected) << to_string(grid);
  }
}

TEST(flow, energy_and_charge_are_gauge_invariant) {
  rank_context ranks(single_rank());
  const coordinates box{4, 4, 4, 4};
  auto u = rough(ranks, lattice(box), 1);
  const auto before = energy_and_charge(ranks.ctx, u);
  const auto g = [&](const coordinates& x) {
    return random_su3(stream_at(1, random_purpose::gauge_transformation, 0, 0, 0, index_in(x, box)));
  };
  for_each_site(u.layout(), [&](const coordinates& x, site_layout::location p) {
    for (int mu = 0; mu < 4; ++mu)
      set(view(u, mu), p.group, p.lane,
          times_adjoint(times(g(x), get(view(u, mu), p.group, p.lane)), g(neighbour_of(x, mu, 1, box))));
  });
  const auto after = energy_and_charge(ranks.ctx, u);
  EXPECT_NEAR(after.energy, before.energy, 1e-12);
  EXPECT_NEAR(after.charge, before.charge, 1e-12);
}

}  // namespace
}  // namespace plaq::lqcd
