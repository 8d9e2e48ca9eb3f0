// Random fields: their distributions, and that they are functions of seed, purpose and global site alone.
#include <gtest/gtest.h>

#include <cmath>

#include "fields_of_tests.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{8, 4, 8, 4};

std::complex<double> trace(const su3_matrix& u) { return u[0] + u[4] + u[8]; }

double distance_from_su3(const su3_matrix& u) {
  double largest = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      std::complex<double> sum = 0;
      for (int k = 0; k < 3; ++k) sum += u[3 * i + k] * std::conj(u[3 * j + k]);
      largest = std::fmax(largest, std::abs(sum - double(i == j)));
    }
  const auto det =
      u[0] * (u[4] * u[8] - u[5] * u[7]) - u[1] * (u[3] * u[8] - u[5] * u[6]) + u[2] * (u[3] * u[7] - u[4] * u[6]);
  return std::fmax(largest, std::abs(det - 1.0));
}

TEST(random_fields, gaussian_pairs_have_variance_one_half_in_each_part) {
  const int n = 40000;
  double re = 0, im = 0, product = 0, fourth = 0;
  std::complex<double> mean = 0;
  for (int i = 0; i < n; ++i)
    for (const auto z : gaussian_pair({.seed = 4}, std::uint64_t(i))) {
      re += z.real() * z.real(), im += z.imag() * z.imag(), product += z.real() * z.imag();
      fourth += std::norm(z) * std::norm(z), mean += z;
    }
  // Four standard errors of 2 n numbers.
  EXPECT_NEAR(re / (2 * n), 0.5, 4 * 0.71 / std::sqrt(2.0 * n));
  EXPECT_NEAR(im / (2 * n), 0.5, 4 * 0.71 / std::sqrt(2.0 * n));
  EXPECT_NEAR(product / (2 * n), 0, 4 * 0.5 / std::sqrt(2.0 * n));
  EXPECT_NEAR(fourth / (2 * n), 2, 4 * 4.5 / std::sqrt(2.0 * n));
  EXPECT_LT(std::abs(mean) / (2 * n), 4 / std::sqrt(2.0 * n));
}

TEST(random_fields, matrices_are_in_su3_with_the_moments_of_the_haar_measure) {
  // <tr U> = 0, <|tr U|^2> = 1, <(tr U)^3> = 1.
  const int n = 10000;
  std::complex<double> first = 0, third = 0;
  double second = 0, worst = 0;
  for (int i = 0; i < n; ++i) {
    const auto u = random_su3({.seed = 2, .l = std::uint64_t(i)});
    const auto t = trace(u);
    first += t, second += std::norm(t), third += t * t * t;
    worst = std::fmax(worst, distance_from_su3(u));
  }
  EXPECT_LT(worst, 1e-13);
  EXPECT_LT(std::abs(first) / n, 4 / std::sqrt(double(n)));
  EXPECT_NEAR(second / n, 1, 4 * 1.0 / std::sqrt(double(n)));
  EXPECT_LT(std::abs(third / double(n) - 1.0), 4 * 2.4 / std::sqrt(double(n)));
}

TEST(random_fields, make_unitary_keeps_matrices_of_su3_and_projects_others) {
  const auto u = random_su3({.seed = 8});
  auto same = u;
  make_unitary(same);
  for (int i = 0; i < 9; ++i) EXPECT_LT(std::abs(same[i] - u[i]), 1e-15);
  auto disturbed = u;
  for (int i = 0; i < 9; ++i) disturbed[i] += 0.01 * std::complex<double>(i, 3 - i);
  EXPECT_GT(distance_from_su3(disturbed), 1e-2);
  make_unitary(disturbed);
  EXPECT_LT(distance_from_su3(disturbed), 1e-14);
  for (int i = 0; i < 9; ++i) EXPECT_LT(std::abs(disturbed[i] - u[i]), 0.2);
}

TEST(random_fields, a_cold_start_sets_all_links_to_one) {
  auto u = random_links_on(layout_of(extents, 4));
  cold_start(u);
  for_each_site(u.layout(), [&](const coordinates&, site_layout::location p) {
    for (int i = 0; i < 36; ++i) EXPECT_EQ(u.get(p, i), std::complex<double>(i % 9 % 4 == 0));
  });
}

TEST(random_fields, a_hot_start_has_another_matrix_on_every_link_and_for_every_seed) {
  const auto u = random_links_on(layout_of(extents, 4)), other = random_links_on(layout_of(extents, 4), 4);
  std::vector<double> first_numbers;
  for_each_site(u.layout(), [&](const coordinates&, site_layout::location p) {
    for (int mu = 0; mu < 4; ++mu) first_numbers.push_back(u.get(p, 9 * mu).real());
    EXPECT_NE(u.get(p, 0), other.get(p, 0));
  });
  std::ranges::sort(first_numbers);
  EXPECT_EQ(std::ranges::adjacent_find(first_numbers), first_numbers.end());
}

TEST(random_fields, do_not_depend_on_ranks_and_lanes) {
  const auto u = random_links_on(layout_of(extents, 1));
  const auto psi = random_spinors_on(layout_of(extents, 1));
  for (const coordinates& grid : {coordinates{1, 1, 1, 1}, coordinates{2, 1, 2, 1}, coordinates{1, 2, 1, 2}})
    for (int rank = 0; rank < product(grid); ++rank)
      for (const int lanes : {1, 4, 16}) {
        const auto layout = std::make_shared<const site_layout>(lattice(extents, grid, rank), lanes);
        const auto links_of_rank = random_links_on(layout);
        const auto spinors_of_rank = random_spinors_on(layout);
        int different = 0;
        for_each_site(*layout, [&](const coordinates& x, site_layout::location p) {
          const auto whole = psi.layout().locate(x + layout->lattice().origin());
          for (int i = 0; i < 36; ++i) different += links_of_rank.get(p, i) != u.get(whole, i);
          for (int i = 0; i < 12; ++i) different += spinors_of_rank.get(p, i) != psi.get(whole, i);
        });
        EXPECT_EQ(different, 0) << to_string(grid) << ", rank " << rank << ", " << lanes << " lanes";
      }
}

TEST(random_fields, on_odd_sites_are_those_of_all_sites) {
  const auto layout = layout_of(extents, 4);
  const auto all = random_spinors_on(layout, 6), odd = random_spinors_on(layout, 6, sites::odd);
  EXPECT_EQ(std::memcmp(odd.data(), all.of(1), odd.size() * sizeof(double)), 0);
}

TEST(random_fields, in_single_precision_are_those_of_double_precision_rounded) {
  const auto psi = random_spinors_on(layout_of(extents, 4));
  const auto single = random_spinors_on<float>(layout_of(extents, 4));
  for (std::size_t i = 0; i < psi.size(); ++i) EXPECT_EQ(single.data()[i], float(psi.data()[i]));
}

TEST(random_fields, differ_by_seed_number_part_and_purpose) {
  const auto layout = layout_of({4, 4, 4, 4}, 1);
  std::vector<double> first;
  for (const auto& stream :
       {spinor_stream{1}, spinor_stream{2}, spinor_stream{1, 1}, spinor_stream{1, 0, 1},
        spinor_stream{1, 0, 0, random_purpose::pseudofermion}, spinor_stream{1, 0, 0, random_purpose::test_vectors}}) {
    spinors<double> eta(layout);
    gaussian(eta, stream);
    first.push_back(eta.data()[0]);
  }
  std::ranges::sort(first);
  EXPECT_EQ(std::ranges::adjacent_find(first), first.end());
}

}  // namespace
}  // namespace plaq::lqcd
