#include "plaq/lqcd/dirac/clover.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/gauge/flow.hpp"
#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/gauge/staples.hpp"
#include "plaq/lqcd/lattice/gamma.hpp"
#include "plaq/lqcd/lattice/site_sum.hpp"

namespace plaq::lqcd {

namespace {

using number = std::complex<double>;
using spin_matrix = std::array<number, 4>;  // of two spins

constexpr std::array<std::array<int, 2>, 6> planes = {{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

/// Returns gamma_mu gamma_nu of the upper spins, e_mu e_nu^+, and of the lower ones, e_mu^+ e_nu.
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

/// Calls f(group, lane) for the sites of this rank in the first `groups` groups.
template <class F>
void for_each_site_of(context& ctx, task::task_name name, const site_layout& layout, std::int64_t groups, F&& f) {
  ctx.workers.parallel_for(name, std::size_t(groups), [&](std::size_t first, std::size_t end) {
    for (std::int64_t b = std::int64_t(first); b < std::int64_t(end); ++b)
      for (int l = 0; l < layout.lanes(); ++l) f(b, l);
  });
}

/// Inverts a 6 x 6 matrix by Gauss and Jordan with the largest pivot of each column. Adds log |det| to log_det.
void invert(six_by_six<double>& a, double& log_det) {
  std::array<int, 6> swapped;
  for (int c = 0; c < 6; ++c) {
    int pivot = c;
    for (int r = c + 1; r < 6; ++r)
      if (std::norm(a[6 * r + c]) > std::norm(a[6 * pivot + c])) pivot = r;
    swapped[c] = pivot;
    for (int k = 0; k < 6; ++k) std::swap(a[6 * c + k], a[6 * pivot + k]);
    const number p = a[6 * c + c], reciprocal = 1.0 / p;
    log_det += std::log(std::abs(p));
    a[6 * c + c] = 1;
    for (int k = 0; k < 6; ++k) a[6 * c + k] *= reciprocal;
    for (int r = 0; r < 6; ++r) {
      if (r == c) continue;
      const number factor = std::exchange(a[6 * r + c], 0.0);
      for (int k = 0; k < 6; ++k) a[6 * r + k] -= factor * a[6 * c + k];
    }
  }
  for (int c = 5; c >= 0; --c)
    for (int k = 0; k < 6; ++k) std::swap(a[6 * k + c], a[6 * k + swapped[c]]);
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

/// Terms of exponential series until they are below rounding: |C|^n < 1e-18 n!, for the norm |C| of H - 1.
int terms_of_series(const six_by_six<double>& C) {
  double square = 0;
  for (const auto& x : C) square += std::norm(x);
  int n = 1;
  for (double term = 1; term > 1e-18 && n < 200; ++n) term *= std::sqrt(square) / n;
  return n;
}

/// Returns exp(C) for 1 + C.
six_by_six<double> exponential_of(six_by_six<double> C) {
  for (int i = 0; i < 6; ++i) C[7 * i] -= 1;
  auto sum = unit, term = unit;
  for (int n = 1, last = terms_of_series(C); n <= last; ++n) {
    term = product(term, C);
    for (int i = 0; i < 36; ++i) term[i] /= n, sum[i] += term[i];
  }
  return sum;
}

/// Returns V such that tr V dC is tr W d exp(C), for 1 + C: the sum of C^k W C^j / (j + k + 1)!.
six_by_six<double> pull_back(six_by_six<double> C, const six_by_six<double>& W) {
  for (int i = 0; i < 6; ++i) C[7 * i] -= 1;
  auto sum = W, S = W, right = W;  // S: the terms of j + k = n - 1, right: W C^(n - 1), over n!
  for (int n = 2, last = terms_of_series(C); n <= last + 1; ++n) {
    S = product(C, S), right = product(right, C);
    for (int i = 0; i < 36; ++i) right[i] /= n, S[i] = S[i] / double(n) + right[i], sum[i] += S[i];
  }
  return sum;
}

/// Number of time slices of the whole lattice between a site and the nearer end, which is zero or less where there are
/// no quarks.
int slices_from_end(const site_layout& layout, int spare, std::int64_t b, int l) {
  const int t = layout.coordinates_of(b, l)[0] + layout.lattice().origin()[0];
  return std::min(t, layout.lattice().extents[0] - 1 - spare - t);
}

six_by_six<double> adjoint(const six_by_six<double>& a) {
  six_by_six<double> b;
  for (int i = 0; i < 36; ++i) b[i] = std::conj(a[i % 6 * 6 + i / 6]);
  return b;
}

plane_matrices empty_planes(const std::shared_ptr<const site_layout>& layout) {
  plane_matrices Z;
  for (std::size_t p = 0; p < planes.size(); ++p) Z.emplace_back(layout);
  return Z;
}

}  // namespace

chiral_blocks<double> clover_term(context& ctx, const links<double>& u, double kappa_csw) {
  const site_layout& layout = u.layout();
  chiral_blocks<double> H(u.shared_layout());
  for_each_site_of(ctx, "clover", layout, layout.groups(), [&](std::int64_t b, int l) {
    for (const int c : {0, 1}) set_block(H, {b, l}, c, unit);
  });
  matrices Q(u.shared_layout());
  for (const auto& [mu, nu] : planes) {
    clover_leaves(ctx, Q, u, mu, nu);
    const auto spins = gammas(mu, nu);
    for_each_site_of(ctx, "clover", layout, layout.groups(), [&](std::int64_t b, int l) {
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

chiral_blocks<double> clover_term(context& ctx, const links<double>& u, const clover_shape& shape) {
  if (shape.exponential && shape.open && shape.cF != 1)
    throw input_error("open boundaries have c_F = 1 with the exponential clover term");
  auto H = clover_term(ctx, u, shape.kappa * shape.csw);
  if (!shape.exponential && !shape.open) return H;
  const site_layout& layout = u.layout();
  for_each_site_of(ctx, "clover", layout, layout.groups(), [&](std::int64_t b, int l) {
    const int beyond = slices_from_end(layout, shape.spare, b, l);
    for (const int c : {0, 1}) {
      auto a = get_block(H, {b, l}, c);
      if (shape.exponential) a = exponential_of(a);
      if (shape.open && beyond <= 0) a = unit;
      for (int i = 0; shape.open && beyond == 1 && i < 6; ++i) a[7 * i] += 2 * shape.kappa * (shape.cF - 1);
      set_block(H, {b, l}, c, a);
    }
  });
  return H;
}

namespace {

/// Blocks on even sites made by change(block, chirality, log |det|) from those of H, with the sum of logarithms.
template <class Change>
inverse_blocks change_on_even_sites(context& ctx, const chiral_blocks<double>& H, Change&& change) {
  chiral_blocks<double> inverse(H.shared_layout(), sites::even);
  const double log_det =
      sum_over_sites(ctx, "invert", 1, inverse.groups(), [&](std::size_t first, std::size_t end, auto& sums) {
        for (std::int64_t b = std::int64_t(first); b < std::int64_t(end); ++b)
          for (int l = 0; l < H.lanes(); ++l) {
            double log_det_of_site = 0;
            for (int c = 0; c < 2; ++c) {
              set_block(inverse, {b, l}, c, change(get_block(H, {b, l}, c), c, log_det_of_site));
            }
            sums[0].add(log_det_of_site);
          }
      })[0];
  return {std::move(inverse), log_det};
}

}  // namespace

inverse_blocks invert_on_even_sites(context& ctx, const chiral_blocks<double>& H, double twist) {
  return change_on_even_sites(ctx, H, [twist](six_by_six<double> a, int c, double& log_det) {
    for (int i = 0; i < 6; ++i) a[7 * i] += number(0, c ? -twist : twist);
    invert(a, log_det);
    return twist == 0 ? a : product(a, adjoint(a));
  });
}

inverse_blocks invert_squares_on_even_sites(context& ctx, const chiral_blocks<double>& H, double square) {
  return change_on_even_sites(ctx, H, [square](const six_by_six<double>& h, int, double& log_det) {
    auto a = product(h, h);
    for (int i = 0; i < 6; ++i) a[7 * i] += square;
    invert(a, log_det);
    return a;
  });
}

namespace {

/// Calls f(group, lane, W) for the sites of the first `groups` groups on which H has a derivative, with
/// W = outer(group, lane, chirality) of both chiralities such that tr dH W becomes tr dC W. Sets Z from W.
template <class Outer>
plane_matrices contract(context& ctx, const links<double>& u, const clover_shape& shape, std::int64_t groups,
                        Outer&& outer) {
  const site_layout& layout = u.layout();
  auto Z = empty_planes(u.shared_layout());
  std::optional<chiral_blocks<double>> linear;
  if (shape.exponential) linear = clover_term(ctx, u, shape.kappa * shape.csw);
  std::array<std::array<spin_matrix, 2>, 6> spins;
  for (std::size_t p = 0; p < planes.size(); ++p) spins[p] = gammas(planes[p][0], planes[p][1]);
  for_each_site_of(ctx, "tensor", layout, groups, [&](std::int64_t b, int l) {
    if (shape.open && slices_from_end(layout, shape.spare, b, l) <= 0) return;
    std::array<six_by_six<double>, 2> W;
    for (int c = 0; c < 2; ++c) {
      W[c] = outer(b, l, c);
      if (linear) W[c] = pull_back(get_block(*linear, {b, l}, c), W[c]);
    }
    for (std::size_t p = 0; p < planes.size(); ++p) {
      su3_matrix z{};
      for (int c = 0; c < 2; ++c)
        for (int s = 0; s < 2; ++s)
          for (int r = 0; r < 2; ++r) {
            const number g = spins[p][c][2 * s + r];
            if (g == 0.0) continue;
            for (int i = 0; i < 3; ++i)
              for (int j = 0; j < 3; ++j) z[3 * i + j] += g * W[c][6 * (3 * r + i) + 3 * s + j];
          }
      set(view(Z[p]), b, l, z);
    }
  });
  return Z;
}

}  // namespace

plane_matrices tensor_of(context& ctx, const links<double>& u, const clover_shape& shape, const spinors<double>& X,
                         const spinors<double>& Y) {
  return contract(ctx, u, shape, X.layout().groups(), [&](std::int64_t b, int l, int c) {
    six_by_six<double> W;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) W[6 * i + j] = X.get({b, l}, 6 * c + i) * std::conj(Y.get({b, l}, 6 * c + j));
    return W;
  });
}

plane_matrices tensor_of(context& ctx, const links<double>& u, const clover_shape& shape,
                         const chiral_blocks<double>& H, const chiral_blocks<double>& inverse_even, bool squared) {
  return contract(ctx, u, shape, inverse_even.groups(), [&](std::int64_t b, int l, int c) {
    const auto a = get_block(inverse_even, {b, l}, c);
    return squared ? product(get_block(H, {b, l}, c), a) : a;
  });
}

void add_tensor_derivative(context& ctx, links<double>& m, const links<double>& u, const plane_matrices& Z,
                           double factor) {
  // Re tr F Z = Re tr Q L with L = (Z - Z^+) / 8: plaquettes with L at one of their corners. A side from x in direction
  // nu becomes G(x) = L(x) U_nu(x) + U_nu(x) L(x + nu). The reverse path has -G^+, since L^+ = -L. Plaquettes below a
  // link have the opposite orientation, so both have G with one sign on each side.
  const site_layout& layout = u.layout();
  const auto sites = u.shared_layout();
  matrices L(sites), shifted(sites), G(sites), minus(sites), staple(sites);
  three_sides sides(ctx, sites);
  for (std::size_t p = 0; p < planes.size(); ++p)
    for (const bool reversed : {false, true}) {
      const int mu = planes[p][reversed], nu = planes[p][!reversed];
      const double sign = reversed ? -factor / 8 : factor / 8;  // F_nu,mu = -F_mu,nu
      for_each_site_of(ctx, "tensor", layout, layout.groups(), [&](std::int64_t b, int l) {
        const auto z = get(view(Z[p]), b, l);
        su3_matrix a;
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) a[3 * i + j] = sign * (z[3 * i + j] - std::conj(z[3 * j + i]));
        set(view(L), b, l, a);
      });
      for (const int q : {0, 1}) {
        shift(ctx, q, view(shifted), view(L), nu, 1);
        multiply(ctx, q, view(G), {view(L)}, {view(u, nu)});
        multiply(ctx, q, view(G), {view(u, nu)}, {view(shifted)}, true);
      }
      for (std::size_t i = 0; i < G.size(); ++i) minus.data()[i] = -G.data()[i];
      std::fill_n(staple.data(), staple.size(), 0.0);
      for (const int q : {0, 1}) {
        sides.add_above(q, staple, view(minus), view(u, mu), view(u, nu), mu, nu);
        sides.add_above(q, staple, view(u, nu), view(u, mu), view(G), mu, nu);
        sides.add_below(q, staple, view(minus), view(u, mu), view(u, nu), mu, nu);
        sides.add_below(q, staple, view(u, nu), view(u, mu), view(G), mu, nu);
        multiply(ctx, q, view(m, mu), {view(u, mu)}, adjoint(view(staple)), true);
      }
    }
}

}  // namespace plaq::lqcd
