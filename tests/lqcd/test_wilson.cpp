#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/dirac/doublet.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{8, 4, 4, 6};

struct one_rank {
  rank_context ranks{single_rank()};
  std::shared_ptr<const site_layout> layout = std::make_shared<site_layout>(lattice(extents), max_lanes<double>());
  links<double> gauge{layout};
  one_rank() { hot_start(gauge, 3); }

  spinors<double> random(std::uint32_t number) const {
    spinors<double> eta(layout);
    gaussian(eta, 5, number);
    return eta;
  }
  spinors<double> applied(const spinors<double>& in, const wilson_parameters& p, bool dagger = false) {
    spinors<double> out(layout);
    wilson<double>(ranks.ctx, gauge, p, layout).apply(out, in, dagger);
    return out;
  }
  double distance(const spinors<double>& a, const spinors<double>& b) {
    spinors<double> d(layout);
    return std::sqrt(combine_norm2<double>(ranks.ctx, d, {{1, a}, {-1, b}}) / norm2(ranks.ctx, b));
  }
};

const wilson_parameters twisted{.kappa = 0.137, .mu = 0.3, .theta = {1, 0.2, 0, -0.4}};
const wilson_parameters improved{.kappa = 0.137, .mu = 0.3, .theta = {1, 0.2, 0, -0.4}, .csw = 1.7};

TEST(wilson, of_free_fields_is_diagonal_in_momentum_space) {
  // M^+ M = (1 - 2 kappa sum cos p)^2 + 4 kappa^2 sum sin^2 p + (2 kappa mu)^2, p = 2 pi (n + theta / 2) / L.
  one_rank s;
  cold_start(s.gauge);
  wilson<double> M(s.ranks.ctx, s.gauge, twisted, s.layout);
  for (const coordinates n : {coordinates{0, 0, 0, 0}, coordinates{3, 1, 2, 5}, coordinates{7, 2, 0, 1}}) {
    double cosines = 0, sines = 0;
    std::array<double, 4> wave;
    for (int mu = 0; mu < 4; ++mu) {
      wave[mu] = 2 * std::numbers::pi * n[mu] / extents[mu];
      const double p = wave[mu] + std::numbers::pi * twisted.theta[mu] / extents[mu];
      cosines += std::cos(p), sines += std::sin(p) * std::sin(p);
    }
    const double k = twisted.kappa,
                 expected = std::pow(1 - 2 * k * cosines, 2) + 4 * k * k * sines + std::pow(2 * k * twisted.mu, 2);
    spinors<double> psi(s.layout), Mpsi(s.layout), MMpsi(s.layout), right(s.layout);
    for_each_site(*s.layout, [&](const coordinates& x, site_layout::location p) {
      double px = 0;
      for (int mu = 0; mu < 4; ++mu) px += wave[mu] * x[mu];
      for (int i = 0; i < 12; ++i) psi.set(p, i, std::polar(1.0 + i, px + i));
    });
    M.apply(Mpsi, psi);
    M.apply(MMpsi, Mpsi, true);
    combine<double>(s.ranks.ctx, right, {{expected, psi}});
    EXPECT_LT(s.distance(MMpsi, right), 1e-14);
  }
}

class with_and_without_clover : public testing::TestWithParam<wilson_parameters> {};
INSTANTIATE_TEST_SUITE_P(wilson, with_and_without_clover, testing::Values(twisted, improved),
                         [](const auto& p) { return p.param.csw ? "clover" : "plain"; });

TEST_P(with_and_without_clover, is_hermitian_with_gamma5_and_minus_mu) {
  one_rank s;
  const auto p = GetParam();
  const auto psi = s.random(1), phi = s.random(2);
  auto other = p;
  other.mu = -other.mu;
  spinors<double> turned(s.layout), right(s.layout);
  combine<double>(s.ranks.ctx, turned, {linear_term<double>::gamma5(psi)});
  const auto back = s.applied(turned, other);
  combine<double>(s.ranks.ctx, right, {linear_term<double>::gamma5(back)});
  EXPECT_LT(s.distance(s.applied(psi, p, true), right), 1e-14);
  const auto a = dot(s.ranks.ctx, phi, s.applied(psi, p)), b = dot(s.ranks.ctx, s.applied(phi, p, true), psi);
  EXPECT_LT(std::abs(a - b), 1e-12 * std::abs(a));
}

TEST_P(with_and_without_clover, is_covariant) {
  // psi -> g psi, U_mu(x) -> g(x) U_mu(x) g(x + mu)^+ takes M psi to g M psi.
  one_rank s;
  const auto p = GetParam();
  const auto g = [&](const coordinates& x) {
    return random_su3(stream_at(1, random_purpose::gauge_transformation, 0, 0, 0, index_in(x, extents)));
  };
  const auto turn = [&](const spinors<double>& in) {
    spinors<double> out(s.layout);
    for_each_site(*s.layout, [&](const coordinates& x, site_layout::location at) {
      const auto g_x = g(x);
      for (int i = 0; i < 12; ++i) {
        std::complex<double> sum = 0;
        for (int c = 0; c < 3; ++c) sum += g_x[3 * (i % 3) + c] * in.get(at, i / 3 * 3 + c);
        out.set(at, i, sum);
      }
    });
    return out;
  };
  const auto psi = s.random(1);
  const auto right = turn(s.applied(psi, p));
  links<double> turned(s.layout);
  for_each_site(*s.layout, [&](const coordinates& x, site_layout::location at) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto g_x = g(x), g_ahead = g(neighbour_of(x, mu, 1, extents));
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          std::complex<double> sum = 0;
          for (int k = 0; k < 3; ++k)
            for (int l = 0; l < 3; ++l)
              sum += g_x[3 * i + k] * s.gauge.get(at, 9 * mu + 3 * k + l) * std::conj(g_ahead[3 * j + l]);
          turned.set(at, 9 * mu + 3 * i + j, sum);
        }
    }
  });
  s.gauge = turned;
  EXPECT_LT(s.distance(s.applied(turn(psi), p), right), 2e-14);
}

TEST_P(with_and_without_clover, on_odd_sites_is_the_whole_with_even_sites_eliminated) {
  // For eta = M psi the odd sites of psi solve M^ psi_o = b, and complete() gives the even ones.
  one_rank s;
  const auto p = GetParam();
  const auto psi = s.random(1);
  const auto eta = s.applied(psi, p);
  wilson<double> M(s.ranks.ctx, s.gauge, p, s.layout);
  spinors<double> b(s.layout, sites::odd), odd(b), Modd(b), again(psi);
  M.prepare(b, eta);
  std::copy_n(psi.of(1), odd.size(), odd.data());
  M.apply_odd(Modd, odd);
  EXPECT_LT(combine_norm2<double>(s.ranks.ctx, Modd, {{1, Modd}, {-1, b}}), 1e-26 * norm2(s.ranks.ctx, b));
  std::fill_n(again.of(0), odd.size(), 0.0);
  M.complete(again, eta);
  EXPECT_LT(s.distance(again, psi), 1e-14);

  spinors<double> other(b), Mother(b);
  gaussian(other, 5, 9);
  M.apply_odd(Modd, odd);
  M.apply_odd(Mother, other, true);
  const auto left = dot(s.ranks.ctx, other, Modd), right = dot(s.ranks.ctx, Mother, odd);
  EXPECT_LT(std::abs(left - right), 1e-12 * std::abs(left));
}

TEST(wilson, refuses_links_with_more_lanes_than_kernels_have) {
  one_rank f;
  const auto wide = std::make_shared<site_layout>(lattice(extents), 2 * max_lanes<double>());
  const links<double> gauge(wide);
  for (const double csw : {0.0, 1.0}) {
    EXPECT_THROW(wilson<float>(f.ranks.ctx, gauge, {.csw = csw}, wide), input_error);
    EXPECT_THROW(doublet<float>(f.ranks.ctx, gauge, {.csw = csw}, wide), input_error);
  }
}

}  // namespace
}  // namespace plaq::lqcd
