// What (1 -+ gamma_mu) leaves of spinors in registers, for the kernels of the hopping matrix and of its derivative.
#pragma once
#include "plaq/lqcd/gamma.hpp"
#include "plaq/lqcd/layout.hpp"
#include "plaq/lqcd/su3.hpp"

namespace plaq::lqcd {

/// Two spins with three colours.
template <class V>
struct half_spinor {
  cx<V> at[2][3];
};

template <int D>
constexpr int direction_of = D / 2;
template <int D>
constexpr bool ahead = D % 2 == 0;

/// The phase of gamma_mu in (1 - gamma_mu), ahead, or (1 + gamma_mu), behind; the other way about in H^+.
template <int D, bool Dagger>
constexpr int sign_phase = ahead<D> != Dagger ? 2 : 0;

/// The upper two spins of (1 -+ gamma_mu) psi.
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

/// Row i of U h, of U^+ h where Adjoint.
template <class V, bool Adjoint, class T>
PLAQ_KERNEL void row_of_product(const T* u, int i, const half_spinor<V>& h, cx<V>& first, cx<V>& second) {
  constexpr int n = 2 * linalg::lanes<V>;
  for (int k = 0; k < 3; ++k) {
    const auto z = load_cx<V>(u + (Adjoint ? 3 * k + i : 3 * i + k) * n);
    first = k ? fma<Adjoint>(z, h.at[0][k], first) : mul<Adjoint>(z, h.at[0][k]);
    second = k ? fma<Adjoint>(z, h.at[1][k], second) : mul<Adjoint>(z, h.at[1][k]);
  }
}

/// Where lanes get their numbers over the edges of sub-boxes.
template <class V>
struct lane_moves {
  linalg::lane_numbers<V> from[neighbours];
  PLAQ_KERNEL explicit lane_moves(const layout& where) {
    for (int d = 0; d < neighbours; ++d) {
      if constexpr (linalg::lanes<V> == 1)
        from[d] = 0;
      else
        for (int l = 0; l < linalg::lanes<V>; ++l) from[d][l] = where.lane_from(d)[l];
    }
  }
};

}  // namespace plaq::lqcd
