// Matrices of single links: products, the algebra of SU(3), and its SU(2) subgroups.
#include <gtest/gtest.h>

#include <cmath>

#include "fields_of_tests.hpp"
#include "plaq/lqcd/gauge/exponential.hpp"
#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/gauge/subgroups.hpp"

namespace plaq::lqcd {
namespace {

su3_matrix random_matrix(std::uint64_t number) {
  su3_matrix m;
  for (std::size_t i = 0; i < 9; ++i) m[i] = gaussian_pair({.seed = 11, .l = number}, i)[0];
  return m;
}

double difference(const su3_matrix& a, const su3_matrix& b) {
  double largest = 0;
  for (int i = 0; i < 9; ++i) largest = std::fmax(largest, std::abs(a[i] - b[i]));
  return largest;
}

su3_matrix adjoint(const su3_matrix& m) {
  su3_matrix out;
  for (int i = 0; i < 9; ++i) out[i] = std::conj(m[i % 3 * 3 + i / 3]);
  return out;
}

quaternion unit_quaternion(std::uint64_t number) {
  const auto z = gaussian_pair({.seed = 12, .l = number}, 0);
  quaternion q{z[0].real(), z[0].imag(), z[1].real(), z[1].imag()};
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (auto& x : q) x /= length;
  return q;
}

/// The matrix of a quaternion in rows and columns i, j, one elsewhere.
su3_matrix embedded(const quaternion& q, int i, int j) {
  su3_matrix m{1, 0, 0, 0, 1, 0, 0, 0, 1};
  m[4 * i] = {q[0], q[3]}, m[3 * i + j] = {q[2], q[1]};
  m[3 * j + i] = {-q[2], q[1]}, m[4 * j] = {q[0], -q[3]};
  return m;
}

TEST(link_algebra, multiplies_rows_by_columns) {
  const auto a = random_matrix(1), b = random_matrix(2), c = times(a, b);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_LT(std::abs(c[3 * i + j] - (a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j])), 1e-14);
}

TEST(link_algebra, multiplies_by_adjoint_matrices) {
  const auto a = random_matrix(1), b = random_matrix(2);
  EXPECT_LT(difference(times_adjoint(a, b), times(a, adjoint(b))), 1e-14);
}

TEST(link_algebra, has_antihermitian_traceless_parts) {
  const auto a = antihermitian(random_matrix(3));
  EXPECT_LT(std::abs(a[0] + a[4] + a[8]), 1e-15);
  for (int i = 0; i < 9; ++i) EXPECT_LT(std::abs(a[i] + adjoint(a)[i]), 1e-15);
  EXPECT_LT(difference(antihermitian(a), a), 1e-15);  // a projection
  const auto m = random_matrix(3);
  su3_matrix hermitian;
  for (int i = 0; i < 9; ++i) hermitian[i] = m[i] + adjoint(m)[i];
  EXPECT_LT(difference(antihermitian(hermitian), su3_matrix{}), 1e-15);
}

TEST(link_algebra, exponentiates_the_algebra_into_the_group) {
  for (const double size : {1e-8, 0.1, 1.0, 10.0}) {
    auto a = antihermitian(random_matrix(4));
    for (auto& z : a) z *= size;
    const auto e = exponential(a);
    EXPECT_LT(difference(times_adjoint(e, e), {1, 0, 0, 0, 1, 0, 0, 0, 1}), 1e-13) << size;
    auto other = e;
    make_unitary(other);
    EXPECT_LT(difference(other, e), 1e-13) << size;  // with determinant one
  }
  EXPECT_EQ(exponential({}), (su3_matrix{1, 0, 0, 0, 1, 0, 0, 0, 1}));
}

TEST(link_algebra, exponentiates_diagonal_matrices_by_their_elements) {
  const std::complex<double> i(0, 1);
  const auto e = exponential({0.3 * i, 0, 0, 0, 0.5 * i, 0, 0, 0, -0.8 * i});
  EXPECT_LT(difference(e, {std::exp(0.3 * i), 0, 0, 0, std::exp(0.5 * i), 0, 0, 0, std::exp(-0.8 * i)}), 1e-15);
}

TEST(site_matrix, is_read_and_written_in_every_lane_and_direction) {
  for (const int lanes : {1, 2, 8, 16}) {
    auto u = random_links_on(layout_of({4, 4, 8, 8}, lanes));
    for (int mu = 0; mu < 4; ++mu)
      for_each_site(u.layout(), [&](const coordinates&, site_layout::location p) {
        const auto m = get(view(u, mu), p.group, p.lane);
        for (int i = 0; i < 9; ++i) EXPECT_EQ(m[i], u.get(p, 9 * mu + i));
      });
    const auto before = u;
    const auto m = random_matrix(5);
    const auto p = u.layout().locate({3, 1, 6, 5});
    set(view(u, 2), p.group, p.lane, m);
    EXPECT_EQ(get(view(u, 2), p.group, p.lane), m);
    int changed = 0;
    for (std::size_t i = 0; i < u.size(); ++i) changed += u.data()[i] != before.data()[i];
    EXPECT_EQ(changed, 18) << lanes;
  }
}

TEST(subgroups, have_products_of_quaternions_as_of_matrices) {
  for (const auto& [i, j] : subgroups) {
    const auto a = unit_quaternion(1), b = unit_quaternion(2);
    EXPECT_LT(difference(embedded(a * b, i, j), times(embedded(a, i, j), embedded(b, i, j))), 1e-15);
    EXPECT_LT(difference(embedded(conj(a), i, j), adjoint(embedded(a, i, j))), 1e-15);
  }
}

TEST(subgroups, multiply_two_rows_of_a_link) {
  for (const auto& [i, j] : subgroups) {
    const auto a = unit_quaternion(3);
    auto u = random_matrix(6);
    const auto expected = times(embedded(a, i, j), u);
    multiply_rows(u, a, i, j);
    EXPECT_LT(difference(u, expected), 1e-14) << i << j;
  }
}

TEST(subgroups, see_the_part_of_a_matrix_that_their_elements_multiply) {
  // Re tr (a w) depends on a by 2 (a r)_0 alone.
  for (const auto& [i, j] : subgroups) {
    const auto w = random_matrix(7);
    const auto r = su2_part(w, i, j);
    const auto trace = [&](const quaternion& a) {
      const auto m = times(embedded(a, i, j), w);
      return (m[0] + m[4] + m[8]).real();
    };
    const auto a = unit_quaternion(4), b = unit_quaternion(5);
    EXPECT_NEAR(trace(a) - trace(b), 2 * ((a * r)[0] - (b * r)[0]), 1e-13) << i << j;
  }
}

TEST(subgroups, draw_directions_without_preference) {
  // <b_i> = 0 and equal <b_i^2> for the three components of the vector part; four standard errors.
  const int n = 20000;
  for (const double alpha : {0.5, 4.0}) {
    double mean[3] = {}, square[3] = {};
    for (int k = 0; k < n; ++k) {
      const auto b = heat_bath_quaternion(alpha, {.seed = 3, .l = std::uint64_t(k)}, 0);
      for (int i = 0; i < 3; ++i) mean[i] += b[i + 1] / n, square[i] += b[i + 1] * b[i + 1] / n;
    }
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(mean[i], 0, 4 * 0.6 / std::sqrt(double(n))) << alpha;
      EXPECT_NEAR(square[i], (square[0] + square[1] + square[2]) / 3, 4 * 0.4 / std::sqrt(double(n))) << alpha;
    }
  }
}

}  // namespace
}  // namespace plaq::lqcd
