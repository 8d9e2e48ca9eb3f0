#include "plaq/lqcd/clover.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/lqcd/flow.hpp"
#include "plaq/lqcd/gamma.hpp"
#include "plaq/lqcd/site_matrix.hpp"
#include "plaq/lqcd/site_sum.hpp"
#include "plaq/lqcd/staples.hpp"

namespace plaq::lqcd {

namespace {

using number = std::complex<double>;
using spin_matrix = std::array<number, 4>;  // of two spins

constexpr std::array<std::array<int, 2>, 6> planes = {{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

/// gamma_mu gamma_nu of the upper spins, e_mu e_nu^+, and of the lower ones, e_mu^+ e_nu.
std::array<spin_matrix, 2> gammas(int mu, int nu) {
  const auto dense = [](int direction) {
    constexpr number power[4] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    spin_matrix e{};
    for (int s = 0; s < 2; ++s) e[2 * s + gamma::e[direction][s].column] = power[gamma::e[direction][s].phase];
    return e;
  };
  const auto a = dense(mu), b = dense(nu);
  std::array<spin_matrix, 2> out{};
  for (int s = 0; s < 2; ++s)
    for (int r = 0; r < 2; ++r)
      for (int k = 0; k < 2; ++k) {
        out[0][2 * s + r] += a[2 * s + k] * std::conj(b[2 * r + k]);
        out[1][2 * s + r] += std::conj(a[2 * k + s]) * b[2 * k + r];
      }
  return out;
}

/// f(block, lane) for the sites of this rank from one block to another.
template <class F>
void on_sites(engine& by, task::task_name name, const layout& where, std::int64_t blocks, F&& f) {
  by.hands.each(name, std::size_t(blocks), [&](std::size_t first, std::size_t end) {
    for (std::int64_t b = std::int64_t(first); b < std::int64_t(end); ++b)
      for (int l = 0; l < where.lanes(); ++l) f(b, l);
  });
}

/// The inverse of a 6 x 6 matrix by Gauss and Jordan with the largest pivot of each column; log |det| is added to.
void invert(six_by_six<double>& a, double& log_det) {
  std::array<int, 6> row;
  for (int c = 0; c < 6; ++c) {
    int pivot = c;
    for (int r = c + 1; r < 6; ++r)
      if (std::norm(a[6 * r + c]) > std::norm(a[6 * pivot + c])) pivot = r;
    row[c] = pivot;
    for (int k = 0; k < 6; ++k) std::swap(a[6 * c + k], a[6 * pivot + k]);
    const number p = a[6 * c + c], one = 1.0 / p;
    log_det += std::log(std::abs(p));
    a[6 * c + c] = 1;
    for (int k = 0; k < 6; ++k) a[6 * c + k] *= one;
    for (int r = 0; r < 6; ++r) {
      if (r == c) continue;
      const number factor = std::exchange(a[6 * r + c], 0.0);
      for (int k = 0; k < 6; ++k) a[6 * r + k] -= factor * a[6 * c + k];
    }
  }
  for (int c = 5; c >= 0; --c)
    for (int k = 0; k < 6; ++k) std::swap(a[6 * k + c], a[6 * k + row[c]]);
}

constexpr six_by_six<double> unit = [] {
  six_by_six<double> a{};
  for (int i = 0; i < 6; ++i) a[7 * i] = 1;
  return a;
}();

six_by_six<double> product(const six_by_six<double>& a, const six_by_six<double>& b) {
  six_by_six<double> c{};
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < 6; ++k)
      for (int j = 0; j < 6; ++j) c[6 * i + j] += a[6 * i + k] * b[6 * k + j];
  return c;
}

six_by_six<double> adjoint(const six_by_six<double>& a) {
  six_by_six<double> b;
  for (int i = 0; i < 36; ++i) b[i] = std::conj(a[i % 6 * 6 + i / 6]);
  return b;
}

plane_matrices empty_planes(const std::shared_ptr<const layout>& where) {
  plane_matrices Z;
  for (std::size_t p = 0; p < planes.size(); ++p) Z.emplace_back(where);
  return Z;
}

}  // namespace

chiral_blocks<double> clover_term(engine& by, const links<double>& u, double kappa_csw) {
  const layout& where = u.where();
  chiral_blocks<double> H(u.shared_layout());
  on_sites(by, "clover", where, where.blocks(), [&](std::int64_t b, int l) {
    for (const int c : {0, 1}) set_block(H, {b, l}, c, unit);
  });
  matrices Q(u.shared_layout());
  for (const auto& [mu, nu] : planes) {
    leaves(by, Q, u, mu, nu);
    const auto spins = gammas(mu, nu);
    on_sites(by, "clover", where, where.blocks(), [&](std::int64_t b, int l) {
      const auto q = get(view(Q), b, l);
      for (int c = 0; c < 2; ++c) {
        auto a = get_block(H, {b, l}, c);
        for (int i = 0; i < 6; ++i)
          for (int j = 0; j < 6; ++j) {
            const int x = i % 3, y = j % 3;
            const number F = (q[3 * x + y] - std::conj(q[3 * y + x])) / 8.0;
            a[6 * i + j] -= kappa_csw * spins[c][2 * (i / 3) + j / 3] * F;
          }
        set_block(H, {b, l}, c, a);
      }
    });
  }
  return H;
}

inverse_blocks inverted(engine& by, const chiral_blocks<double>& H, double twist) {
  chiral_blocks<double> inverse(H.shared_layout(), sites::even);
  const double log_det = summed(by, "invert", 1, inverse.blocks(), [&](std::size_t first, std::size_t end, auto& sums) {
    for (std::int64_t b = std::int64_t(first); b < std::int64_t(end); ++b)
      for (int l = 0; l < H.lanes(); ++l) {
        double here = 0;
        for (int c = 0; c < 2; ++c) {
          auto a = get_block(H, {b, l}, c);
          for (int i = 0; i < 6; ++i) a[7 * i] += number(0, c ? -twist : twist);
          invert(a, here);
          set_block(inverse, {b, l}, c, twist == 0 ? a : product(a, adjoint(a)));
        }
        sums[0].add(here);
      }
  })[0];
  return {std::move(inverse), log_det};
}

plane_matrices tensor_of(engine& by, const spinors<double>& X, const spinors<double>& Y) {
  auto Z = empty_planes(X.shared_layout());
  for (std::size_t p = 0; p < planes.size(); ++p) {
    const auto spins = gammas(planes[p][0], planes[p][1]);
    on_sites(by, "tensor", X.where(), X.where().blocks(), [&](std::int64_t b, int l) {
      su3_matrix z{};
      for (int c = 0; c < 2; ++c)
        for (int s = 0; s < 2; ++s)
          for (int r = 0; r < 2; ++r) {
            const number g = spins[c][2 * s + r];
            if (g == 0.0) continue;
            for (int i = 0; i < 3; ++i)
              for (int j = 0; j < 3; ++j)
                z[3 * i + j] += g * X.get({b, l}, 6 * c + 3 * r + i) * std::conj(Y.get({b, l}, 6 * c + 3 * s + j));
          }
      set(view(Z[p]), b, l, z);
    });
  }
  return Z;
}

plane_matrices tensor_of(engine& by, const chiral_blocks<double>& H, const chiral_blocks<double>& inverse_even,
                         double twist) {
  auto Z = empty_planes(inverse_even.shared_layout());
  for (std::size_t p = 0; p < planes.size(); ++p) {
    const auto spins = gammas(planes[p][0], planes[p][1]);
    on_sites(by, "tensor", inverse_even.where(), inverse_even.blocks(), [&](std::int64_t b, int l) {
      su3_matrix z{};
      for (int c = 0; c < 2; ++c) {
        auto a = get_block(inverse_even, {b, l}, c);
        if (twist != 0) a = product(get_block(H, {b, l}, c), a);
        for (int s = 0; s < 2; ++s)
          for (int r = 0; r < 2; ++r)
            for (int i = 0; i < 3; ++i)
              for (int j = 0; j < 3; ++j) z[3 * i + j] += spins[c][2 * s + r] * a[6 * (3 * r + i) + 3 * s + j];
      }
      set(view(Z[p]), b, l, z);
    });
  }
  return Z;
}

void add_tensor_derivative(engine& by, links<double>& m, const links<double>& u, const plane_matrices& Z,
                           double factor) {
  // Re tr F Z = Re tr Q L with L = (Z - Z^+) / 8: plaquettes with L at one of their corners. Along a side of them,
  // from x in direction nu, that is G(x) = L(x) U_nu(x) + U_nu(x) L(x + nu). The way back along it has -G^+ since
  // L^+ = -L, and plaquettes below a link run the other way round, so that both have G with one sign on each side.
  const layout& where = u.where();
  const auto sites = u.shared_layout();
  matrices L(sites), there(sites), G(sites), minus(sites), staple(sites);
  three_sides way(by, sites);
  for (std::size_t p = 0; p < planes.size(); ++p)
    for (const bool turned : {false, true}) {
      const int mu = planes[p][turned], nu = planes[p][!turned];
      const double sign = turned ? -factor / 8 : factor / 8;  // F_nu,mu = -F_mu,nu
      on_sites(by, "tensor", where, where.blocks(), [&](std::int64_t b, int l) {
        const auto z = get(view(Z[p]), b, l);
        su3_matrix a;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) a[3 * i + j] = sign * (z[3 * i + j] - std::conj(z[3 * j + i]));
        set(view(L), b, l, a);
      });
      for (const int q : {0, 1}) {
        shift(by, q, view(there), view(L), nu, 1);
        product(by, q, view(G), {view(L)}, {view(u, nu)});
        product(by, q, view(G), {view(u, nu)}, {view(there)}, true);
      }
      for (std::size_t i = 0; i < G.size(); ++i) minus.data()[i] = -G.data()[i];
      std::fill_n(staple.data(), staple.size(), 0.0);
      for (const int q : {0, 1}) {
        way.add_above(q, staple, view(minus), view(u, mu), view(u, nu), mu, nu);
        way.add_above(q, staple, view(u, nu), view(u, mu), view(G), mu, nu);
        way.add_below(q, staple, view(minus), view(u, mu), view(u, nu), mu, nu);
        way.add_below(q, staple, view(u, nu), view(u, mu), view(G), mu, nu);
        product(by, q, view(m, mu), {view(u, mu)}, adjoint(view(staple)), true);
      }
    }
}

}  // namespace plaq::lqcd
