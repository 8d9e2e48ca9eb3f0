// Algebra of the kernels: gamma matrices, complex numbers in lanes and projected spinors against their definitions.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <random>
#include <vector>

#include "plaq/lqcd/dirac/half_spinor.hpp"
#include "plaq/lqcd/reference/reference.hpp"

namespace plaq::lqcd {
namespace {

using reference::matrix4;
using reference::number;

/// gamma_mu as gamma.hpp gives it, in four by four numbers.
matrix4 from_table(int mu) {
  const number powers[] = {1, {0, 1}, -1, {0, -1}};
  matrix4 out{};
  for (int s = 0; s < 2; ++s) {
    const auto& e = gamma::e[mu][s];
    out[std::size_t(s)][std::size_t(2 + e.column)] = powers[e.phase];
    out[std::size_t(2 + e.column)][std::size_t(s)] = std::conj(powers[e.phase]);
  }
  return out;
}

matrix4 times(const matrix4& a, const matrix4& b) {
  matrix4 out{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 4; ++k) out[i][j] += a[i][k] * b[k][j];
  return out;
}

TEST(gammas, are_those_of_the_reference) {
  for (int mu = 0; mu < 4; ++mu) EXPECT_EQ(from_table(mu), reference::gamma(mu)) << mu;
}

TEST(gammas, are_hermitian_and_anticommute) {
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = 0; nu < 4; ++nu) {
      const auto ab = times(from_table(mu), from_table(nu)), ba = times(from_table(nu), from_table(mu));
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
          EXPECT_EQ(ab[i][j] + ba[i][j], number(mu == nu && i == j ? 2 : 0)) << mu << nu;
          EXPECT_EQ(from_table(mu)[i][j], std::conj(from_table(mu)[j][i]));
        }
    }
}

TEST(gammas, have_a_diagonal_product) {
  const auto five = times(times(from_table(0), from_table(1)), times(from_table(2), from_table(3)));
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(five[i][j], number(i != j ? 0 : i < 2 ? 1 : -1));
}

template <class V>
struct registers : testing::Test {
  using real = linalg::number_of<V>;
  static constexpr int n = linalg::lanes<V>;
  static constexpr double tolerance = sizeof(real) == 8 ? 1e-14 : 1e-5;
  std::mt19937_64 random{77};

  /// So many complex numbers for each lane, as fields hold them: real parts of all lanes, then imaginary parts.
  std::vector<real> drawn(int count) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<real> out(std::size_t(2 * n * count));
    for (real& x : out) x = real(uniform(random));
    return out;
  }
  static number at(const std::vector<real>& x, int i, int lane) {
    return {double(x[std::size_t(2 * n * i + lane)]), double(x[std::size_t(2 * n * i + n + lane)])};
  }
  static number lane_of(cx<V> z, int lane) {
    std::vector<real> out(2 * n);
    store_cx(out.data(), z);
    return at(out, 0, lane);
  }
  static void expect_near(number actual, number expected) {
    EXPECT_NEAR(actual.real(), expected.real(), 20 * tolerance);
    EXPECT_NEAR(actual.imag(), expected.imag(), 20 * tolerance);
  }

  template <int D, bool Dagger>
  void expect_projection() {
    const auto psi = drawn(12);
    const auto h = project<V, D, Dagger>(psi.data());
    const double sign = (D % 2 == 0) != Dagger ? -1 : 1;  // ahead 1 - gamma, behind 1 + gamma
    const auto g = from_table(D / 2);
    for (int lane = 0; lane < n; ++lane)
      for (int s = 0; s < 2; ++s)
        for (int c = 0; c < 3; ++c) {
          number exact = at(psi, 3 * s + c, lane);
          for (int r = 0; r < 4; ++r) exact += sign * g[std::size_t(s)][std::size_t(r)] * at(psi, 3 * r + c, lane);
          expect_near(lane_of(h.at[s][c], lane), exact);
        }
  }
};
using widths = testing::Types<float, linalg::simd<float, linalg::native_lanes<float>>, double,
                              linalg::simd<double, linalg::native_lanes<double>>>;
TYPED_TEST_SUITE(registers, widths);

TYPED_TEST(registers, add_powers_of_i) {
  using V = TypeParam;
  const auto x = this->drawn(2);
  const cx<V> a = load_cx<V>(x.data()), b = load_cx<V>(x.data() + 2 * this->n);
  const number i(0, 1);
  for (int l = 0; l < this->n; ++l) {
    const number p = this->at(x, 0, l), q = this->at(x, 1, l);
    this->expect_near(this->lane_of(add<0>(a, b), l), p + q);
    this->expect_near(this->lane_of(add<1>(a, b), l), p + i * q);
    this->expect_near(this->lane_of(add<2>(a, b), l), p - q);
    this->expect_near(this->lane_of(add<3>(a, b), l), p - i * q);
    this->expect_near(this->lane_of(add<5>(a, b), l), p + i * q);
  }
}

TYPED_TEST(registers, multiply_complex_numbers) {
  using V = TypeParam;
  const auto x = this->drawn(3);
  const auto nth = [&](int i) { return load_cx<V>(x.data() + 2 * this->n * i); };
  const cx<V> a = nth(0), b = nth(1), c = nth(2);
  for (int l = 0; l < this->n; ++l) {
    const number p = this->at(x, 0, l), q = this->at(x, 1, l), r = this->at(x, 2, l);
    this->expect_near(this->lane_of(mul(a, b), l), p * q);
    this->expect_near(this->lane_of(mul<true>(a, b), l), std::conj(p) * q);
    this->expect_near(this->lane_of(fma(a, b, c), l), p * q + r);
    this->expect_near(this->lane_of(fma<true>(a, b, c), l), std::conj(p) * q + r);
  }
}

TYPED_TEST(registers, project_spinors_in_all_directions) {
  [this]<int... D>(std::integer_sequence<int, D...>) {
    (this->template expect_projection<D, false>(), ...);
    (this->template expect_projection<D, true>(), ...);
  }(std::make_integer_sequence<int, 8>());
}

TYPED_TEST(registers, take_rows_of_links_and_of_adjoint_ones_from_two_rows) {
  using V = TypeParam;
  const auto two_rows = this->drawn(6), x = this->drawn(6);
  half_spinor<V> h;
  for (int s = 0; s < 2; ++s)
    for (int c = 0; c < 3; ++c) h.at[s][c] = load_cx<V>(x.data() + (3 * s + c) * 2 * this->n);
  using real = typename TestFixture::real;
  for (const auto determinant : {std::complex<real>(1), std::complex<real>(real(0.6), real(-0.8))}) {
    const auto u = determinant == real(1) ? load_link<V, false>(two_rows.data(), determinant)
                                          : load_link<V, true>(two_rows.data(), determinant);
    for (int l = 0; l < this->n; ++l) {
      number exact[3][3];
      for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 2; ++i) exact[i][j] = this->at(two_rows, 3 * i + j, l);
      }
      for (int j = 0; j < 3; ++j) {
        const int a = (j + 1) % 3, b = (j + 2) % 3;
        exact[2][j] = number(determinant) * std::conj(exact[0][a] * exact[1][b] - exact[0][b] * exact[1][a]);
      }
      for (int i = 0; i < 3; ++i) {
        cx<V> first, second, first_adjoint, second_adjoint;
        row_of_product<false>(u, i, h, first, second);
        row_of_product<true>(u, i, h, first_adjoint, second_adjoint);
        number expected[2] = {}, adjoint[2] = {};
        for (int s = 0; s < 2; ++s)
          for (int k = 0; k < 3; ++k) {
            expected[s] += exact[i][k] * this->at(x, 3 * s + k, l);
            adjoint[s] += std::conj(exact[k][i]) * this->at(x, 3 * s + k, l);
          }
        this->expect_near(this->lane_of(first, l), expected[0]);
        this->expect_near(this->lane_of(second, l), expected[1]);
        this->expect_near(this->lane_of(first_adjoint, l), adjoint[0]);
        this->expect_near(this->lane_of(second_adjoint, l), adjoint[1]);
      }
    }
  }
}

TYPED_TEST(registers, permute_real_and_imaginary_parts_alike) {
  using V = TypeParam;
  const auto x = this->drawn(1);
  linalg::lane_numbers<V> reversed{};
  if constexpr (TestFixture::n > 1)
    for (int l = 0; l < this->n; ++l) reversed[l] = this->n - 1 - l;
  const auto z = permute(load_cx<V>(x.data()), reversed);
  for (int l = 0; l < this->n; ++l) EXPECT_EQ(this->lane_of(z, l), this->at(x, 0, this->n - 1 - l));
}

TYPED_TEST(registers, are_streamed_as_they_are_stored) {
  using V = TypeParam;
  using real = typename TestFixture::real;
  const auto x = this->drawn(1);
  alignas(64) real streamed[2 * TestFixture::n], stored[2 * TestFixture::n];
  stream_cx<V>(streamed, load_cx<V>(x.data()));
  store_cx<V>(stored, load_cx<V>(x.data()));
  stream_fence();
  for (int i = 0; i < 2 * this->n; ++i) EXPECT_EQ(streamed[i], stored[i]);
}

TYPED_TEST(registers, load_numbers_of_16_bits_in_single_precision) {
  using V = TypeParam;
  if constexpr (sizeof(typename TestFixture::real) == 4) {
    std::vector<fixed16> bits;
    for (int i = 0; i < 2 * this->n; ++i) bits.push_back(fixed16(i % 2 ? -32767 + 1000 * i : 32767 - 999 * i));
    const auto z = load_cx<V>(bits.data());
    for (int l = 0; l < this->n; ++l) {
      const number expected(bits[std::size_t(l)] / 32767.0, bits[std::size_t(this->n + l)] / 32767.0);
      EXPECT_LT(std::abs(this->lane_of(z, l) - expected), 1e-7);
    }
  }
}

TYPED_TEST(registers, take_the_lanes_that_a_layout_permutes) {
  using V = TypeParam;
  const site_layout layout(lattice({8, 8, 8, 8}), this->n);
  [[maybe_unused]] const lane_moves<V> moves(layout);
  for (int d = 0; d < neighbours; ++d)
    for (int l = 0; l < this->n; ++l) {
      if constexpr (TestFixture::n > 1) {
        EXPECT_EQ(moves.from[d][l], layout.lane_from(d)[l]);
      }
    }
}

}  // namespace
}  // namespace plaq::lqcd
