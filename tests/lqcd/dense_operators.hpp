// Operators of quarks on the whole lattice, site by site from their formulas: slow, for comparison.
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fields_of_tests.hpp"
#include "plaq/lqcd/dirac/doublet.hpp"
#include "plaq/lqcd/dirac/wilson.hpp"

namespace plaq::lqcd::dense {

using reference::number;
using vector = std::vector<number>;  ///< [site][spin][colour]
using links = std::vector<number>;   ///< [site][mu][row][column]

/// Links times exp(i pi theta_mu / L_mu).
inline links with_phases(const coordinates& box, links u, const angles& theta) {
  for (std::size_t i = 0; i < u.size(); ++i) {
    const auto mu = i / 9 % 4;
    u[i] *= std::polar(1.0, std::numbers::pi * theta[mu] / box[mu]);
  }
  return u;
}

/// Product of the links along a path of steps +-(mu + 1) from x, row by row.
inline std::array<number, 9> path(const coordinates& box, const links& u, coordinates x,
                                  const std::vector<int>& steps) {
  std::array<number, 9> product{1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (const int step : steps) {
    const int mu = std::abs(step) - 1;
    const auto next = neighbour_of(x, mu, step > 0 ? 1 : -1, box);
    const number* link = &u[std::size_t((4 * index_in(step > 0 ? x : next, box) + mu) * 9)];
    std::array<number, 9> longer{};
    for (int i = 0; i < 9; ++i)
      for (int k = 0; k < 3; ++k)
        longer[i] += product[i / 3 * 3 + k] * (step > 0 ? link[3 * k + i % 3] : std::conj(link[i % 3 * 3 + k]));
    product = longer, x = next;
  }
  return product;
}

/// 12 x 12 matrix 1 + i kappa c_sw sum sigma_mu,nu F_mu,nu of a site, row by row; `u` without phases.
inline std::vector<number> clover(const coordinates& box, const links& u, const coordinates& x, double kappa_csw) {
  std::vector<number> a(144);
  for (std::size_t i = 0; i < 12; ++i) a[13 * i] = 1;
  for (int m = 1; m <= 4; ++m)
    for (int n = m + 1; n <= 4 && kappa_csw != 0; ++n) {
      std::array<number, 9> Q{};
      for (const std::vector<int>& leaf : {std::vector{m, n, -m, -n}, {n, -m, -n, m}, {-m, -n, m, n}, {-n, m, n, -m}}) {
        const auto loop = path(box, u, x, leaf);
        for (std::size_t i = 0; i < 9; ++i) Q[i] += loop[i];
      }
      for (std::size_t i = 0; i < 12; ++i)
        for (std::size_t j = 0; j < 12; ++j) {
          number gammas = 0;  // i sigma = -gamma_mu gamma_nu
          for (std::size_t k = 0; k < 4; ++k)
            gammas += reference::gamma(m - 1)[i / 3][k] * reference::gamma(n - 1)[k][j / 3];
          a[12 * i + j] -= kappa_csw * gammas * (Q[3 * (i % 3) + j % 3] - std::conj(Q[3 * (j % 3) + i % 3])) / 8.0;
        }
    }
  return a;
}

/// exp(a - 1) of a 12 x 12 matrix by its series.
inline std::vector<number> exponential(std::vector<number> a) {
  std::vector<number> sum(144), term(144);
  for (std::size_t i = 0; i < 12; ++i) a[13 * i] -= 1, sum[13 * i] = term[13 * i] = 1;
  for (int n = 1; n < 60; ++n) {
    std::vector<number> next(144);
    for (std::size_t i = 0; i < 144; ++i)
      for (std::size_t k = 0; k < 12; ++k) next[i] += term[i / 12 * 12 + k] * a[12 * k + i % 12] / double(n);
    term = next;
    for (std::size_t i = 0; i < 144; ++i) sum[i] += term[i];
  }
  return sum;
}

/// A psi or A^+ psi with A = H + i twist gamma_5.
inline vector diagonal(const coordinates& box, const links& u, const vector& psi, const clover_shape& shape,
                       double twist, bool dagger) {
  vector out(psi.size());
  for (std::size_t site = 0; site < psi.size() / 12; ++site) {
    const auto x = coordinates_in(std::int64_t(site), box);
    const int end = std::min(x[0], box[0] - 1 - x[0]);
    auto a = clover(box, u, x, shape.open && end == 0 ? 0 : shape.kappa * shape.csw);
    if (shape.exponential) a = exponential(a);
    for (std::size_t i = 0; shape.open && end == 1 && i < 12; ++i) a[13 * i] += 2 * shape.kappa * (shape.cF - 1);
    for (std::size_t i = 0; i < 12; ++i) {
      for (std::size_t j = 0; j < 12; ++j)
        out[12 * site + i] += (dagger ? std::conj(a[12 * j + i]) : a[12 * i + j]) * psi[12 * site + j];
      out[12 * site + i] += number(0, (i < 6) != dagger ? twist : -twist) * psi[12 * site + i];
    }
  }
  return out;
}

/// M psi or M^+ psi of Wilson quarks.
inline vector wilson(const coordinates& box, const links& u, const vector& psi, const wilson_parameters& p,
                     bool dagger = false) {
  auto out = diagonal(box, u, psi, p.shape(), 2 * p.kappa * p.mu, dagger);
  const auto end = [&](std::size_t i) {  // of the time slices with open boundaries
    const int t = coordinates_in(std::int64_t(i / 12), box)[0];
    return p.open && (t == 0 || t == box[0] - 1);
  };
  auto inside = psi;
  for (std::size_t i = 0; i < psi.size(); ++i)
    if (end(i)) inside[i] = 0;
  const auto hops = reference::hopping(box, with_phases(box, u, p.theta), inside, dagger);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!end(i)) out[i] -= p.kappa * hops[i];
  return out;
}

/// M psi or M^+ psi of a doublet: (up, down).
inline std::pair<vector, vector> doublet(const coordinates& box, const links& u, const vector& up, const vector& down,
                                         const doublet_parameters& p, bool dagger = false) {
  const double between = 2 * p.kappa * p.epsilon;
  const wilson_parameters one{p.kappa, p.mu, p.theta, p.csw, p.exponential, p.open, p.cF};
  auto other = one;
  other.mu = -p.mu;
  auto out_up = wilson(box, u, up, one, dagger), out_down = wilson(box, u, down, other, dagger);
  for (std::size_t i = 0; i < up.size(); ++i) out_up[i] += between * down[i], out_down[i] += between * up[i];
  return {out_up, out_down};
}

/// One step of Gaussian smearing in space.
inline vector smear(const coordinates& box, const links& u, const vector& psi, double kappa, const angles& theta) {
  const auto v = with_phases(box, u, theta);
  vector out(psi.size());
  for (std::size_t site = 0; site < psi.size() / 12; ++site) {
    const auto x = coordinates_in(std::int64_t(site), box);
    for (std::size_t i = 0; i < 12; ++i) {
      number sum = psi[12 * site + i];
      for (int j = 1; j < 4; ++j) {
        const auto ahead = std::size_t(index_in(neighbour_of(x, j, 1, box), box));
        const auto behind = std::size_t(index_in(neighbour_of(x, j, -1, box), box));
        const std::size_t spin = i / 3 * 3, row = i % 3, mu = std::size_t(j);
        for (std::size_t k = 0; k < 3; ++k)
          sum += kappa * (v[(4 * site + mu) * 9 + 3 * row + k] * psi[12 * ahead + spin + k] +
                          std::conj(v[(4 * behind + mu) * 9 + 3 * k + row]) * psi[12 * behind + spin + k]);
      }
      out[12 * site + i] = sum / (1 + 6 * kappa);
    }
  }
  return out;
}

}  // namespace plaq::lqcd::dense
