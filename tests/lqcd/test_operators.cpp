// Operators of quarks against their formulas with dense matrices, in every precision and with all lanes.
#include <gtest/gtest.h>

#include "dense_operators.hpp"
#include "plaq/lqcd/dirac/quark_smearing.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{4, 4, 8, 4};
const angles theta{1, 0.25, 0, -0.5};

struct parameters {
  const char* name;
  wilson_parameters of;
};
void PrintTo(const parameters& p, std::ostream* out) { *out << p.name; }

class wilson_operators : public testing::TestWithParam<parameters> {
 protected:
  rank_context ranks{single_rank()};
  const links<double> gauge = random_links_on(layout_of(extents, max_lanes<double>()));
  const dense::links u = reference::whole(gauge);

  template <class T, class S>
  void expect_formula(double tolerance) {
    const auto p = GetParam().of;
    const wilson<double> in_double(ranks.ctx, gauge, p, gauge.shared_layout());
    for (const int lanes : lane_counts<T>()) {
      const auto layout = layout_of(extents, lanes);
      wilson<T, S> M(in_double, layout);
      const auto psi = random_spinors_on<T>(layout);
      spinors<T> out(layout);
      for (const bool dagger : {false, true}) {
        M.apply(out, psi, dagger);
        EXPECT_LT(difference_from(out, dense::wilson(extents, u, reference::whole(psi), p, dagger)), tolerance)
            << lanes << " lanes, dagger: " << dagger;
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(
    quarks, wilson_operators,
    testing::Values(parameters{"plain", {.kappa = 0.14}}, parameters{"antiperiodic", {.kappa = 0.14, .theta = theta}},
                    parameters{"twisted", {.kappa = 0.14, .mu = 0.3, .theta = theta}},
                    parameters{"clover", {.kappa = 0.13, .theta = theta, .csw = 1.4}},
                    parameters{"twisted_clover", {.kappa = 0.13, .mu = -0.2, .theta = theta, .csw = 1.4}},
                    parameters{"exponential", {.kappa = 0.13, .mu = 0.1, .csw = 1.8, .exponential = true}},
                    parameters{"open", {.kappa = 0.13, .theta = {0, 0.25, 0, 0}, .open = true}},
                    parameters{"open_clover", {.kappa = 0.13, .mu = 0.2, .csw = 1.4, .open = true, .cF = 1.2}}),
    [](const auto& p) { return p.param.name; });

TEST_P(wilson_operators, are_their_formula_in_double_precision) { expect_formula<double, double>(1e-13); }
TEST_P(wilson_operators, are_their_formula_in_single_precision) { expect_formula<float, float>(2e-5); }
TEST_P(wilson_operators, are_their_formula_to_the_steps_of_links_in_16_bits) { expect_formula<float, fixed16>(2e-3); }

TEST_P(wilson_operators, on_odd_sites_are_the_schur_complement_of_even_ones) {
  // M^ psi_o = (M psi)_o of the psi whose even sites make (M psi)_e zero.
  const auto layout = gauge.shared_layout();
  wilson<double> M(ranks.ctx, gauge, GetParam().of, layout);
  const auto odd = random_spinors_on(layout, 1, sites::odd);
  spinors<double> whole(layout), zero(layout), out(layout), M_odd(layout, sites::odd);
  std::copy_n(odd.data(), odd.size(), whole.of(1));
  M.complete(whole, zero);
  M.apply(out, whole);
  M.apply_odd(M_odd, odd);
  for (std::size_t i = 0; i < odd.size(); ++i) {
    EXPECT_NEAR(out.of(0)[i], 0, 1e-13);
    EXPECT_NEAR(out.of(1)[i], M_odd.data()[i], 1e-13);
  }
}

TEST_P(wilson_operators, take_a_twist_on_odd_sites) {
  const auto layout = gauge.shared_layout();
  wilson<double> M(ranks.ctx, gauge, GetParam().of, layout);
  const auto psi = random_spinors_on(layout, 1, sites::odd);
  spinors<double> plain(psi), twisted(psi), expected(psi);
  for (const bool dagger : {false, true}) {
    M.apply_odd(plain, psi, dagger);
    M.apply_odd(twisted, psi, dagger, 0.7);
    combine<double>(ranks.ctx, expected, {{1, plain}, linear_term<double>::chiral({0, dagger ? -0.7 : 0.7}, psi)});
    for (std::size_t i = 0; i < psi.size(); ++i) EXPECT_NEAR(twisted.data()[i], expected.data()[i], 1e-14);
  }
}

TEST_P(wilson_operators, prepare_the_right_hand_side_of_odd_sites) {
  // eta_o + kappa H_oe A^-1 eta_e: the odd sites of eta - M (A^-1 eta_e, 0).
  const auto layout = gauge.shared_layout();
  wilson<double> M(ranks.ctx, gauge, GetParam().of, layout);
  const auto eta = random_spinors_on(layout, 2);
  spinors<double> b(layout, sites::odd), even(layout), out(layout);
  M.prepare(b, eta);
  M.complete(even, eta);  // with odd sites zero: A^-1 eta_e
  M.apply(out, even);
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(b.data()[i], eta.of(1)[i] - out.of(1)[i], 1e-13);
}

TEST_P(wilson_operators, show_their_links_and_blocks) {
  const auto p = GetParam().of;
  const wilson<double> M(ranks.ctx, gauge, p, gauge.shared_layout());
  const auto v = dense::with_phases(extents, u, p.theta);
  EXPECT_EQ(M.has_clover(), p.csw != 0);
  if (p.exponential || p.open) GTEST_SKIP() << "their blocks are seen in products";
  EXPECT_EQ(M.parameters().kappa, p.kappa);
  for_each_site(gauge.layout(), [&](const coordinates& x, site_layout::location at) {
    const auto site = std::size_t(index_in(x, extents));
    for (int mu = 0; mu < 4; ++mu) {
      const auto link = M.link(at, mu);
      for (std::size_t i = 0; i < 9; ++i) EXPECT_LT(std::abs(link[i] - v[(4 * site + std::size_t(mu)) * 9 + i]), 1e-14);
    }
    if (!M.has_clover() || site % 37) return;
    const auto a = dense::clover(extents, u, x, p.kappa * p.csw);
    for (int c = 0; c < 2; ++c) {
      const auto block = M.clover_block(at, c);
      for (std::size_t i = 0; i < 36; ++i) {
        const std::size_t row = i / 6 + 6 * std::size_t(c), column = i % 6 + 6 * std::size_t(c);
        const dense::number twist(0, row == column ? (c ? -2 : 2) * p.kappa * p.mu : 0);
        EXPECT_LT(std::abs(block[i] - a[12 * row + column] - twist), 1e-14);
      }
    }
  });
}

TEST_P(wilson_operators, count_the_determinants_of_their_even_blocks) {
  const auto p = GetParam().of;
  const wilson<double> M(ranks.ctx, gauge, p, gauge.shared_layout());
  if (p.csw == 0) {
    EXPECT_EQ(M.log_det_even(), 0);
    return;
  }
  EXPECT_GT(std::abs(M.log_det_even()), 1e-3);
  const wilson<float> single(M, layout_of(extents, max_lanes<float>()));
  EXPECT_EQ(single.log_det_even(), M.log_det_even());
}

class doublets : public testing::TestWithParam<doublet_parameters> {};

INSTANTIATE_TEST_SUITE_P(
    forms, doublets,
    testing::Values(doublet_parameters{.kappa = 0.131, .mu = 0.25, .epsilon = 0.17, .theta = theta},
                    doublet_parameters{.kappa = 0.131, .mu = 0.25, .epsilon = 0.17, .theta = theta, .csw = 1.4},
                    doublet_parameters{.kappa = 0.12, .mu = 0.2, .epsilon = 0.1, .csw = 1.4, .exponential = true},
                    doublet_parameters{.kappa = 0.12, .mu = 0.2, .epsilon = 0.1, .csw = 1.4, .open = true, .cF = 0.9}),
    [](const auto& p) {
      const auto& of = p.param;
      return of.open ? "open" : of.exponential ? "exponential" : of.csw ? "clover" : "plain";
    });

TEST_P(doublets, are_their_formula) {
  rank_context ranks(single_rank());
  const auto p = GetParam();
  const auto u = reference::whole(random_links_on(layout_of(extents, 1)));
  for (const int lanes : lane_counts<double>()) {
    const auto layout = layout_of(extents, lanes);
    doublet<double> M(ranks.ctx, random_links_on(layout), p, layout);
    const flavours<double> psi{random_spinors_on(layout, 1), random_spinors_on(layout, 2)};
    auto out = M.zero(sites::all);
    for (const bool dagger : {false, true}) {
      M.apply(out, psi, dagger);
      const auto [up, down] =
          dense::doublet(extents, u, reference::whole(psi.up), reference::whole(psi.down), p, dagger);
      EXPECT_LT(difference_from(out.up, up), 1e-13) << lanes;
      EXPECT_LT(difference_from(out.down, down), 1e-13) << lanes;
    }
  }
}

TEST_P(doublets, in_single_precision_are_their_formula_to_its_digits) {
  rank_context ranks(single_rank());
  const auto p = GetParam();
  const auto gauge = random_links_on(layout_of(extents, 1));
  const auto layout = layout_of(extents, max_lanes<float>());
  doublet<float> M(ranks.ctx, gauge, p, layout);
  const flavours<float> psi{random_spinors_on<float>(layout, 1), random_spinors_on<float>(layout, 2)};
  auto out = M.zero(sites::all);
  M.apply(out, psi);
  const auto [up, down] =
      dense::doublet(extents, reference::whole(gauge), reference::whole(psi.up), reference::whole(psi.down), p);
  EXPECT_LT(difference_from(out.up, up), 2e-5);
  EXPECT_LT(difference_from(out.down, down), 2e-5);
}

TEST_P(doublets, on_odd_sites_are_the_schur_complement_of_even_ones) {
  rank_context ranks(single_rank());
  const auto layout = layout_of(extents, max_lanes<double>());
  doublet<double> M(ranks.ctx, random_links_on(layout), GetParam(), layout);
  const flavours<double> odd{random_spinors_on(layout, 1, sites::odd), random_spinors_on(layout, 2, sites::odd)};
  auto whole = M.zero(sites::all), out = whole, M_odd = M.zero(sites::odd);
  const auto zero = M.zero(sites::all);
  for_each_flavour([](auto& to, const auto& from) { std::copy_n(from.data(), from.size(), to.of(1)); }, whole, odd);
  M.complete(whole, zero);
  M.apply(out, whole);
  M.apply_odd(M_odd, odd);
  for_each_flavour(
      [](const auto& all, const auto& half) {
        for (std::size_t i = 0; i < half.size(); ++i) {
          EXPECT_NEAR(all.of(0)[i], 0, 1e-13);
          EXPECT_NEAR(all.of(1)[i], half.data()[i], 1e-13);
        }
      },
      out, M_odd);
}

TEST(quark_smearing, is_its_formula_with_all_lanes) {
  rank_context ranks(single_rank());
  for (const int lanes : lane_counts<double>()) {
    const auto layout = layout_of(extents, lanes);
    const auto u = random_links_on(layout);
    auto psi = random_spinors_on(layout);
    auto expected = reference::whole(psi);
    for (int i = 0; i < 2; ++i) expected = dense::smear(extents, reference::whole(u), expected, 0.3, theta);
    gaussian_smear(ranks.ctx, psi, u, 0.3, 2, theta);
    EXPECT_LT(difference_from(psi, expected), 1e-13) << lanes;
  }
}

TEST(quark_smearing, needs_all_sites) {
  rank_context ranks(single_rank());
  const auto layout = layout_of(extents, 1);
  spinors<double> odd(layout, sites::odd);
  EXPECT_ANY_THROW(gaussian_smear(ranks.ctx, odd, random_links_on(layout), 0.3, 1, theta));
}

}  // namespace
}  // namespace plaq::lqcd
