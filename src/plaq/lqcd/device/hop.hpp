// The hopping matrix on sites of one parity of a whole lattice, by a block of threads for each tile.
#pragma once
#include <cmath>

#include "plaq/gpu/team.hpp"
#include "plaq/lqcd/device/sites.hpp"
#include "plaq/lqcd/device/step_state.hpp"
#include "plaq/lqcd/device/storage.hpp"
#include "plaq/lqcd/lattice/gamma.hpp"

namespace plaq::lqcd::device {

/// Returns a + s i^Phase b, with s = 1 or -1.
template <int Phase, class T>
PLAQ_ANYWHERE complex_number<T> add_phase(complex_number<T> a, T s, complex_number<T> b) {
  if constexpr (Phase % 4 == 0) return {std::fma(s, b.re, a.re), std::fma(s, b.im, a.im)};
  if constexpr (Phase % 4 == 1) return {std::fma(-s, b.im, a.re), std::fma(s, b.re, a.im)};
  if constexpr (Phase % 4 == 2) return {std::fma(-s, b.re, a.re), std::fma(-s, b.im, a.im)};
  if constexpr (Phase % 4 == 3) return {std::fma(s, b.im, a.re), std::fma(-s, b.re, a.im)};
}

/// Returns a b.
template <class T>
PLAQ_ANYWHERE complex_number<T> times(complex_number<T> a, complex_number<T> b) {
  return {std::fma(a.re, b.re, -(a.im * b.im)), std::fma(a.re, b.im, a.im * b.re)};
}
/// Returns a b + c.
template <class T>
PLAQ_ANYWHERE complex_number<T> times_plus(complex_number<T> a, complex_number<T> b, complex_number<T> c) {
  return {std::fma(a.re, b.re, std::fma(-a.im, b.im, c.re)), std::fma(a.re, b.im, std::fma(a.im, b.re, c.im))};
}
template <class T>
PLAQ_ANYWHERE complex_number<T> conjugate(complex_number<T> a) {
  return {a.re, -a.im};
}

/// Kernel that computes result = c H in + d phi on the sites of `parity` from those of the other one (H^+ if dagger),
/// where c and d are numbers for the upper two spins, and their conjugates for the lower two. It stores
/// out = result, or base - alpha result if there is a base. Spinors, links and phi are stored as S, out and base as R.
template <class S, class R = S>
struct hop {
  using number = number_of<S>;
  using complex = complex_number<number>;
  static constexpr int most_threads = 128, blocks_at_once = sizeof(number) == 8 ? 3 : 4;

  half_lattice lattice;
  int parity;
  bool dagger;
  const link_block<S>*links_here, *links_there;  ///< of this parity, of the other one
  complex determinants[4];                       ///< of links; in half precision over fixed16_one
  const spinor_block<S>* in;
  spinor_block<R>* out;  ///< null: only the norm is computed
  complex c{1, 0};
  const spinor_block<S>* phi = nullptr;  ///< null: no d phi
  complex d{0, 0};
  const spinor_block<R>* base = nullptr;
  const step_state* state = nullptr;  ///< of the step that alpha belongs to; null: alpha is 1
  double* norm2 = nullptr;            ///< if not null: |out|^2 of each tile

  int blocks() const { return lattice.tiles(); }
  int threads() const { return lattice.tile_sites(); }

  template <class Team>
  PLAQ_BY_TEAM void operator()(Team& team, int tile, double* scratch) const {
    if (state && state->last) return;
    team.each(lattice.tile_sites(), [&](int i) {
      const site here = lattice.find(parity, tile, i);
      const number sign = dagger ? number(-1) : number(1);
      complex sum[4][3] = {};
      add_direction<0>(here, sign, sum), add_direction<1>(here, sign, sum);
      add_direction<2>(here, sign, sum), add_direction<3>(here, sign, sum);
      add_direction<4>(here, sign, sum), add_direction<5>(here, sign, sum);
      add_direction<6>(here, sign, sum), add_direction<7>(here, sign, sum);
      const double size = finish(here.number, sum);
      if (norm2) scratch[i] = size;
    });
    if (!norm2) return;
    const double total = team.sum(lattice.tile_sites(), [&](int i, double part) { return part + scratch[i]; });
    team.once([&] { norm2[tile] = total; });
  }

 private:
  static constexpr number link_unit = is_fixed<S> ? number(1) / fixed16_one : number(1);

  /// Adds the contribution of direction D.
  template <int D>
  PLAQ_ANYWHERE void add_direction(const site& here, number sign, complex (&sum)[4][3]) const {
    constexpr int mu = D / 2;
    constexpr bool ahead = D % 2 == 0;
    constexpr auto e0 = gamma::e[mu][0], e1 = gamma::e[mu][1];
    const number s = ahead ? -sign : sign;
    const int there = lattice.template neighbour<D>(here);
    complex psi[4][3], h[2][3], u[3][3];
    const number unit = read_spinor(in, there, psi, true);
    for (int c = 0; c < 3; ++c) {
      h[0][c] = add_phase<e0.phase>(psi[0][c], s, psi[2 + e0.column][c]);
      h[1][c] = add_phase<e1.phase>(psi[1][c], s, psi[2 + e1.column][c]);
    }
    if constexpr (is_fixed<S>)
      for (auto& spin : h)
        for (auto& z : spin) z = {z.re * unit, z.im * unit};
    read_rows(ahead ? links_here : links_there, ahead ? here.number : there, mu, u);
    for (int j = 0; j < 3; ++j) {
      const int k = (j + 1) % 3, l = (j + 2) % 3;
      const complex minus{-u[0][l].re, -u[0][l].im};
      u[2][j] = times(determinants[mu], conjugate(times_plus(u[0][k], u[1][l], times(minus, u[1][k]))));
    }
    for (int i = 0; i < 3; ++i) {
      complex first, second;
      for (int k = 0; k < 3; ++k) {
        const complex z = ahead ? u[i][k] : conjugate(u[k][i]);
        first = k == 0 ? times(z, h[0][k]) : times_plus(z, h[0][k], first);
        second = k == 0 ? times(z, h[1][k]) : times_plus(z, h[1][k], second);
      }
      sum[0][i] = {sum[0][i].re + first.re, sum[0][i].im + first.im};
      sum[1][i] = {sum[1][i].re + second.re, sum[1][i].im + second.im};
      sum[2 + e0.column][i] = add_phase<8 - e0.phase>(sum[2 + e0.column][i], s, first);
      sum[2 + e1.column][i] = add_phase<8 - e1.phase>(sum[2 + e1.column][i], s, second);
    }
  }

  /// Stores the result of a site; returns its norm squared.
  PLAQ_ANYWHERE double finish(int at, complex (&sum)[4][3]) const {
    const complex factor{c.re * link_unit, c.im * link_unit};
    for (int s = 0; s < 4; ++s)
      for (int i = 0; i < 3; ++i) sum[s][i] = times(s < 2 ? factor : conjugate(factor), sum[s][i]);
    complex other[4][3];
    if (phi) {
      read_spinor(phi, at, other);
      for (int s = 0; s < 4; ++s)
        for (int i = 0; i < 3; ++i) sum[s][i] = times_plus(s < 2 ? d : conjugate(d), other[s][i], sum[s][i]);
    }
    if (base) {
      const number alpha = state ? number(state->alpha) : number(1);
      read_spinor(base, at, other);
      for (int s = 0; s < 4; ++s)
        for (int i = 0; i < 3; ++i)
          sum[s][i] = {std::fma(-alpha, sum[s][i].re, other[s][i].re), std::fma(-alpha, sum[s][i].im, other[s][i].im)};
    }
    if (out) write_spinor(out, at, sum);
    return norm2 ? norm2_of(sum) : 0;
  }
};

}  // namespace plaq::lqcd::device
