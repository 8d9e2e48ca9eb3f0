// Half spinors (1 -+ gamma_mu) psi in registers, for the kernels of the hopping matrix and of its derivative.
#pragma once
#include <complex>

#include "plaq/lqcd/lattice/gamma.hpp"
#include "plaq/lqcd/lattice/layout.hpp"
#include "plaq/lqcd/lattice/load_fixed16.hpp"
#include "plaq/lqcd/lattice/su3.hpp"

namespace plaq::lqcd {

/// Two spins with three colours.
template <class V>
struct half_spinor {
  cx<V> at[2][3];
};

/// Direction mu of neighbour D, and whether it is ahead.
template <int D>
constexpr int direction_of = D / 2;
template <int D>
constexpr bool ahead = D % 2 == 0;

/// Phase of gamma_mu in (1 - gamma_mu), ahead, or (1 + gamma_mu), behind; in H^+ the signs are reversed.
template <int D, bool Dagger>
constexpr int sign_phase = ahead<D> != Dagger ? 2 : 0;

/// Returns the upper two spins of (1 -+ gamma_mu) psi.
template <class V, int D, bool Dagger, class T>
PLAQ_KERNEL half_spinor<V> project(const T* psi) {
  constexpr int n = 2 * linalg::lanes<V>;
  half_spinor<V> h;
  const auto row = [&]<int S>() {
    constexpr auto e = gamma::e[direction_of<D>][S];
    for (int c = 0; c < 3; ++c)
      h.at[S][c] = add<e.phase + sign_phase<D, Dagger>>(load_cx<V>(psi + (3 * S + c) * n),
                                                        load_cx<V>(psi + (3 * (2 + e.column) + c) * n));
  };
  row.template operator()<0>();
  row.template operator()<1>();
  return h;
}

/// Matrix of SU(3) times a phase, stored as two rows or with the third one.
template <class V>
struct link {
  cx<V> at[3][3];
};

/// Loads a link from two rows. The third row is the conjugate of their vector product, times the link's determinant,
/// which is one unless WithDeterminant.
template <class V, bool WithDeterminant, class S>
PLAQ_KERNEL link<V> load_link(const S* two_rows, std::complex<linalg::number_of<V>> determinant) {
  using linalg::fma, linalg::fnma, linalg::mul;
  constexpr int n = 2 * linalg::lanes<V>;
  link<V> u;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) u.at[i][j] = load_cx<V>(two_rows + (3 * i + j) * n);
  for (int j = 0; j < 3; ++j) {
    const auto &a = u.at[0][(j + 1) % 3], &b = u.at[1][(j + 2) % 3];
    const auto &c = u.at[0][(j + 2) % 3], &d = u.at[1][(j + 1) % 3];
    u.at[2][j] = {fma(a.re, b.re, fnma(a.im, b.im, fnma(c.re, d.re, mul(c.im, d.im)))),
                  fnma(a.re, b.im, fnma(a.im, b.re, fma(c.re, d.im, mul(c.im, d.re))))};
  }
  if constexpr (WithDeterminant)
    for (auto& z : u.at[2])
      z = lqcd::mul(cx<V>{linalg::same<V>(determinant.real()), linalg::same<V>(determinant.imag())}, z);
  return u;
}

/// Loads a link with its third row.
template <class V, class S>
PLAQ_KERNEL link<V> load_link(const S* two_rows, const S* third_row) {
  constexpr int n = 2 * linalg::lanes<V>;
  link<V> u;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) u.at[i][j] = load_cx<V>(two_rows + (3 * i + j) * n);
  for (int j = 0; j < 3; ++j) u.at[2][j] = load_cx<V>(third_row + j * n);
  return u;
}

/// Computes row i of u h, or of u^+ h if Adjoint, for both spins.
template <bool Adjoint, class V>
PLAQ_KERNEL void row_of_product(const link<V>& u, int i, const half_spinor<V>& h, cx<V>& first, cx<V>& second) {
  for (int k = 0; k < 3; ++k) {
    const auto& z = Adjoint ? u.at[k][i] : u.at[i][k];
    first = k ? fma<Adjoint>(z, h.at[0][k], first) : mul<Adjoint>(z, h.at[0][k]);
    second = k ? fma<Adjoint>(z, h.at[1][k], second) : mul<Adjoint>(z, h.at[1][k]);
  }
}

/// Permutations of lanes over the edges of sub-boxes.
template <class V>
struct lane_moves {
  linalg::lane_numbers<V> from[neighbours];
  PLAQ_KERNEL explicit lane_moves(const site_layout& layout) {
    for (int d = 0; d < neighbours; ++d) {
      if constexpr (linalg::lanes<V> == 1)
        from[d] = 0;
      else
        for (int l = 0; l < linalg::lanes<V>; ++l) from[d][l] = layout.lane_from(d)[l];
    }
  }
};

}  // namespace plaq::lqcd
