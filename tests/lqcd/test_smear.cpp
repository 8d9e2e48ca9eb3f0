// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/dirac/quark_smearing.hpp"
#include "plaq/lqcd/gauge/ape_smearing.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/lattice/linear.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

using number = std::complex<double>;
const coordinates extents{4, 4, 6, 2};

std::shared_ptr<site_layout> make_layout(const coordinates& box, int lanes = 16) {
  return std::make_shared<site_layout>(lattice(box), std::min(lanes, max_lanes<double>()));
}

links<double> random_links(const std::shared_ptr<site_layout>& layout, int seed = 5) {
  links<double> u(layout);
  hot_start(u, std::uint64_t(seed));
  return u;
}

su3_matrix adjoint_of(const su3_matrix& m) {
  su3_matrix a;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) a[3 * i + j] = std::conj(m[3 * j + i]);
  return a;
}

su3_matrix link_at(const links<double>& u, const coordinates& x, int mu) {
  const auto at = u.layout().locate(x);
  return get(view(u, mu), at.group, at.lane);
}

/// A rotation of colour on each site, those of direction 0 of a field at random.
links<double> turned(const links<double>& u, const links<double>& g) {
  links<double> v(u);
  for_each_site(u.layout(), [&](const coordinates& x, site_layout::location p) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto ahead = link_at(g, neighbour_of(x, mu, 1, u.layout().lattice().extents), 0);
      const auto link = times_adjoint(times(link_at(g, x, 0), get(view(u, mu), p.group, p.lane)), ahead);
      set(view(v, mu), p.group, p.lane, link);
    }
  });
  return v;
}

spinors<double> turned(const spinors<double>& psi, const links<double>& g) {
  spinors<double> out(psi);
  for_each_site(psi.layout(), [&](const coordinates& x, site_layout::location p) {
    const auto m = link_at(g, x, 0);
    for (int s = 0; s < 4; ++s)
      for (int i = 0; i < 3; ++i) {
        number sum = 0;
        for (int k = 0; k < 3; ++k) sum += m[3 * i + k] * psi.get(p, 3 * s + k);
        out.set(p, 3 * s + i, sum);
      }
  });
  return out;
}

template <class Field>
double largest_difference(const Field& a, const Field& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::fmax(most, std::abs(a.data()[i] - b.data()[i]));
  return most;
}

TEST(ape_smear, is_the_unitary_part_of_a_link_and_its_staples_in_space) {
  rank_context ranks(single_rank());
  const auto u = random_links(make_layout(extents));
  auto smooth = u;
  const double alpha = 0.4;
  ape_smear(ranks.ctx, smooth, alpha, 1);
  EXPECT_LT(unitarity_violation(ranks.ctx, smooth), 1e-13);
  for_each_site(u.layout(), [&](const coordinates& x, site_layout::location) {
    const auto same = link_at(u, x, 0), kept = link_at(smooth, x, 0);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(same[i], kept[i]);  // links in time stay
    for (int k = 1; k < 4; ++k) {
      su3_matrix v;
      const auto link = link_at(u, x, k);
      for (int i = 0; i < 9; ++i) v[i] = (1 - alpha) * link[i];
      for (int j = 1; j < 4; ++j) {
        if (j == k) continue;
        const auto up = neighbour_of(x, j, 1, extents), down = neighbour_of(x, j, -1, extents),
                   ahead = neighbour_of(x, k, 1, extents);
        const auto above = times(times(link_at(u, x, j), link_at(u, up, k)), adjoint_of(link_at(u, ahead, j)));
        const auto below = times(times(adjoint_of(link_at(u, down, j)), link_at(u, down, k)),
                                 link_at(u, neighbour_of(down, k, 1, extents), j));
        for (int i = 0; i < 9; ++i) v[i] += alpha / 4 * (above[i] + below[i]);
      }
      // What multiplies the projection to give V is hermitian and positive, but for one phase.
      const auto h = times(adjoint_of(link_at(smooth, x, k)), v);
      const auto det =
          h[0] * (h[4] * h[8] - h[5] * h[7]) - h[1] * (h[3] * h[8] - h[5] * h[6]) + h[2] * (h[3] * h[7] - h[4] * h[6]);
      const auto phase = std::polar(1.0, -std::arg(det) / 3);
      for (int i = 0; i < 3; ++i) {
        EXPECT_GT((phase * h[4 * i]).real(), 0);
        for (int j = 0; j < 3; ++j) EXPECT_LT(std::abs(phase * h[3 * i + j] - std::conj(phase * h[3 * j + i])), 1e-13);
      }
    }
  });
}

TEST(ape_smear, turns_with_the_colours_of_sites_and_leaves_unit_links) {
  rank_context ranks(single_rank());
  const auto layout = make_layout(extents);
  const auto u = random_links(layout), g = random_links(layout, 6);
  auto first = turned(u, g), then = u;
  ape_smear(ranks.ctx, first, 0.5, 3);
  ape_smear(ranks.ctx, then, 0.5, 3);
  EXPECT_LT(largest_difference(first, turned(then, g)), 1e-12);
  EXPECT_GT(plaquette(ranks.ctx, then).spatial, plaquette(ranks.ctx, u).spatial + 0.3);
  links<double> one(layout);
  cold_start(one);
  auto smooth = one;
  ape_smear(ranks.ctx, smooth, 0.7, 2);
  EXPECT_LT(largest_difference(smooth, one), 1e-14);
  ape_smear(ranks.ctx, then, 0, 1);
  EXPECT_ANY_THROW(ape_smear(ranks.ctx, then, 1.5, 1));
}

TEST(gaussian_smear, of_free_waves_multiplies_them_with_its_momentum_function) {
  // exp(i p x) -> [(1 + 2 kappa sum cos(p_j + pi theta_j / L_j)) / (1 + 6 kappa)]^n exp(i p x)
  rank_context ranks(single_rank());
  const auto layout = make_layout({4, 4, 6, 8});
  links<double> one(layout);
  cold_start(one);
  const coordinates wave{1, 1, 2, 3}, box{4, 4, 6, 8};
  const angles theta{1, 0, 0.5, -0.25};
  spinors<double> psi(layout);
  const auto at = [&](const coordinates& x, int i) {
    double phase = 0.3 * i;
    for (std::size_t mu = 0; mu < 4; ++mu) phase += 2 * M_PI * wave[mu] * x[mu] / box[mu];
    return std::polar(1.0 + i, phase);
  };
  for_each_site(*layout, [&](const coordinates& x, site_layout::location p) {
    for (int i = 0; i < 12; ++i) psi.set(p, i, at(x, i));
  });
  const double kappa = 0.3;
  gaussian_smear(ranks.ctx, psi, one, kappa, 5, theta);
  double each = 1;
  for (std::size_t j = 1; j < 4; ++j) each += 2 * kappa * std::cos((2 * M_PI * wave[j] + M_PI * theta[j]) / box[j]);
  const double factor = std::pow(each / (1 + 6 * kappa), 5);
  for_each_site(*layout, [&](const coordinates& x, site_layout::location p) {
    for (int i = 0; i < 12; ++i) EXPECT_LT(std::abs(psi.get(p, i) - factor * at(x, i)), 1e-13);
  });
}

TEST(gaussian_smear, turns_with_the_colours_of_sites_is_hermitian_and_stays_on_its_slice) {
  rank_context ranks(single_rank());
  const auto layout = make_layout(extents);
  const auto u = random_links(layout), g = random_links(layout, 6);
  const angles theta{1, 0.2, 0, 0.7};
  spinors<double> psi(layout), eta(layout);
  gaussian(psi, 1);
  gaussian(eta, 2);
  auto first = turned(psi, g), then = psi, other = eta;
  gaussian_smear(ranks.ctx, first, turned(u, g), 0.25, 4, theta);
  gaussian_smear(ranks.ctx, then, u, 0.25, 4, theta);
  EXPECT_LT(largest_difference(first, turned(then, g)), 1e-13);
  gaussian_smear(ranks.ctx, other, u, 0.25, 4, theta);
  EXPECT_LT(std::abs(dot(ranks.ctx, eta, then) - dot(ranks.ctx, other, psi)), 1e-11);

  spinors<double> point(layout);
  point.set(layout->locate({1, 2, 3, 1}), 4, 1);
  gaussian_smear(ranks.ctx, point, u, 0.25, 3, theta);
  double on_slice = 0, off_slice = 0;
  for_each_site(*layout, [&](const coordinates& x, site_layout::location p) {
    for (int i = 0; i < 12; ++i) (x[0] == 1 && i / 3 == 1 ? on_slice : off_slice) += std::norm(point.get(p, i));
  });
  EXPECT_GT(on_slice, 0.01);
  EXPECT_EQ(off_slice, 0);
}

TEST(gaussian_smear, and_ape_give_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  const coordinates box{8, 4, 12, 4};
  const auto smeared = [&](rank_context& ranks, const lattice& on, int lanes) {
    const auto layout = std::make_shared<site_layout>(on, std::min(lanes, max_lanes<double>()));
    auto u = random_links(layout);
    ape_smear(ranks.ctx, u, 0.5, 2);
    spinors<double> psi(layout);
    gaussian(psi, 3);
    gaussian_smear(ranks.ctx, psi, u, 0.2, 3, {1, 0.5, 0, 0});
    const auto p = plaquette(ranks.ctx, u);
    const auto z = norm2(ranks.ctx, psi);
    return std::array{p.spatial, p.temporal, z};
  };
  rank_context single(single_rank());
  const auto expected = smeared(single, lattice(box), 1);
  for (const auto& [lanes, workers] : {std::pair(1, 1), std::pair(16, 2)}) {
    rank_context ranks(world(), "fiber", workers);
    for (const auto& grid : grids(box))
      EXPECT_EQ(smeared(ranks, lattice(box, grid, world().rank()), lanes), expected) << to_string(grid);
  }
}

}  // namespace
}  // namespace plaq::lqcd
