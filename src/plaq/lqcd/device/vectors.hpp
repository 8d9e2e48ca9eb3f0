// Linear combinations of spinors on a device, a block of threads for each 256 sites.
#pragma once
#include <cmath>

#include "plaq/lqcd/device/step_state.hpp"
#include "plaq/lqcd/device/storage.hpp"

namespace plaq::lqcd::device {

/// Size of a kernel on sites of one parity.
struct on_sites {
  static constexpr int part = 256;  ///< sites of a block
  static constexpr int most_threads = part, blocks_at_once = 2;
  int sites;

  int blocks() const { return (sites + part - 1) / part; }
  int threads() const { return part; }
  /// Calls f(site, i) for site i of a block.
  template <class Team, class F>
  PLAQ_BY_TEAM void each(Team& team, int block, F&& f) const {
    const int first = block * part, left = sites - first;
    team.each(left < part ? left : part, [&](int i) { f(first + i, i); });
  }
  /// Number of sites of a block.
  PLAQ_ANYWHERE int count(int block) const {
    const int left = sites - block * part;
    return left < part ? left : part;
  }
};

/// Kernel out = factor in, from double precision; and zero = 0 if not null.
template <class R>
struct convert : on_sites {
  spinor_block<R>* out;
  const spinor_block<double>* in;
  double factor;
  spinor_block<R>* zero = nullptr;

  template <class Team>
  PLAQ_BY_TEAM void operator()(Team& team, int block, double*) const {
    each(team, block, [&](int site, int) {
      complex_number<double> x[4][3];
      complex_number<number_of<R>> y[4][3];
      read_spinor(in, site, x);
      for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c) y[s][c] = {number_of<R>(factor * x[s][c].re), number_of<R>(factor * x[s][c].im)};
      write_spinor(out, site, y);
      if (!zero) return;
      for (auto& spin : y)
        for (auto& z : spin) z = {0, 0};
      write_spinor(zero, site, y);
    });
  }
};

/// Kernel x += factor y, to double precision.
template <class R>
struct accumulate : on_sites {
  spinor_block<double>* x;
  const spinor_block<R>* y;
  double factor;

  template <class Team>
  PLAQ_BY_TEAM void operator()(Team& team, int block, double*) const {
    each(team, block, [&](int site, int) {
      complex_number<double> a[4][3];
      complex_number<number_of<R>> b[4][3];
      read_spinor(x, site, a), read_spinor(y, site, b);
      for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c)
          a[s][c] = {std::fma(factor, double(b[s][c].re), a[s][c].re),
                     std::fma(factor, double(b[s][c].im), a[s][c].im)};
      write_spinor(x, site, a);
    });
  }
};

/// Kernel p = a r + b p; p is not read if b is zero.
template <class S, class R>
struct turn : on_sites {
  using number = number_of<R>;
  spinor_block<S>* p;
  const spinor_block<R>* r;
  complex_number<number> a;
  number b;

  template <class Team>
  PLAQ_BY_TEAM void operator()(Team& team, int block, double*) const {
    each(team, block, [&](int site, int) {
      complex_number<number> x[4][3], y[4][3] = {};
      read_spinor(r, site, x);
      if (b != 0) read_spinor(p, site, y);
      for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c) {
          y[s][c] = {std::fma(a.re, x[s][c].re, std::fma(-a.im, x[s][c].im, b * y[s][c].re)),
                     std::fma(a.re, x[s][c].im, std::fma(a.im, x[s][c].re, b * y[s][c].im))};
        }
      write_spinor(p, site, y);
    });
  }
};

/// Kernel of (r, p): real and imaginary parts of the sum over each block, in parts[block] and parts[blocks + block].
template <class S, class R>
struct overlap : on_sites {
  const spinor_block<R>* r;
  const spinor_block<S>* p;
  double* parts;

  template <class Team>
  PLAQ_BY_TEAM void operator()(Team& team, int block, double* scratch) const {
    each(team, block, [&](int site, int i) {
      complex_number<number_of<R>> x[4][3], y[4][3];
      read_spinor(r, site, x), read_spinor(p, site, y);
      double re = 0, im = 0;
      for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c) {
          const double a = x[s][c].re, b = x[s][c].im, u = y[s][c].re, v = y[s][c].im;
          re = std::fma(a, u, std::fma(b, v, re)), im = std::fma(a, v, std::fma(-b, u, im));
        }
      scratch[i] = re, scratch[part + i] = im;
    });
    const int n = count(block), all = (sites + part - 1) / part;
    for (int k = 0; k < 2; ++k) {
      const double sum = team.sum(n, [&](int i, double so_far) { return so_far + scratch[k * part + i]; });
      team.once([&] { parts[k * all + block] = sum; });
    }
  }
};

/// Kernel of the end of a step: sum += alpha p, and p = r + beta p unless the step is the last.
template <class S, class R>
struct advance : on_sites {
  using number = number_of<R>;
  spinor_block<R>* sum;
  spinor_block<S>* p;
  const spinor_block<R>* r;
  const step_state* state;

  template <class Team>
  PLAQ_BY_TEAM void operator()(Team& team, int block, double*) const {
    if (state->ended) return;
    each(team, block, [&](int site, int) {
      const auto alpha = number(state->alpha), beta = number(state->beta);
      complex_number<number> x[4][3], y[4][3];
      read_spinor(sum, site, x), read_spinor(p, site, y);
      for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c)
          x[s][c] = {std::fma(alpha, y[s][c].re, x[s][c].re), std::fma(alpha, y[s][c].im, x[s][c].im)};
      write_spinor(sum, site, x);
      if (state->last) return;
      read_spinor(r, site, x);
      for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c)
          y[s][c] = {std::fma(beta, y[s][c].re, x[s][c].re), std::fma(beta, y[s][c].im, x[s][c].im)};
      write_spinor(p, site, y);
    });
  }
};

/// Kernel that converts links from double precision.
template <class S>
struct convert_links : on_sites {
  link_block<S>* out;
  const link_block<double>* in;

  template <class Team>
  PLAQ_BY_TEAM void operator()(Team& team, int block, double*) const {
    each(team, block, [&](int site, int) {
      link_block<S>& to = out[site / together];
      const int lane = site % together;
      for (int mu = 0; mu < 4; ++mu) {
        complex_number<double> u[3][3];
        read_rows(in, site, mu, u);
        for (int i = 0; i < 12; ++i) {
          const complex_number<double> z = u[i / 6][i / 2 % 3];
          const double x = i % 2 ? z.im : z.re;
          S& number = to.at[mu][i / to.width][lane].at[i % to.width];
          if constexpr (is_fixed<S>)
            number = fixed16(int(std::rint(std::fmax(-1.0, std::fmin(1.0, x)) * fixed16_one)));
          else
            number = S(x);
        }
      }
    });
  }
};

}  // namespace plaq::lqcd::device
