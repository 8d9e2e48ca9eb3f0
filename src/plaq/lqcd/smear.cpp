#include "plaq/lqcd/smear.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/site_matrix.hpp"
#include "plaq/lqcd/staples.hpp"

namespace plaq::lqcd {

namespace {

/// The inverse of m^+, and det m.
std::pair<su3_matrix, std::complex<double>> inverse_adjoint(const su3_matrix& m) {
  su3_matrix cofactors;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      cofactors[3 * i + j] = m[3 * a + c] * m[3 * b + d] - m[3 * a + d] * m[3 * b + c];
    }
  const auto det = m[0] * cofactors[0] + m[1] * cofactors[1] + m[2] * cofactors[2];
  for (auto& x : cofactors) x = std::conj(x / det);
  return {cofactors, det};
}

/// V (V^+ V)^(-1/2) by Newton's iteration V -> (V + V^+^-1) / 2, then with determinant one.
su3_matrix projected(su3_matrix v) {
  constexpr int most = 60;
  for (int i = 0;; ++i) {
    const auto [other, det] = inverse_adjoint(v);
    double change = 0;
    for (int k = 0; k < 9; ++k) {
      const auto next = (v[k] + other[k]) / 2.0;
      change = std::max(change, std::abs(next - v[k]));
      v[k] = next;
    }
    if (change < 8e-15 || i == most || !std::isfinite(change)) break;
  }
  const auto third = std::pow(inverse_adjoint(v).second, -1.0 / 3);
  for (auto& x : v) x *= third;
  make_unitary(v);  // rounding only
  return v;
}

}  // namespace

void ape(engine& by, links<double>& u, double alpha, int times) {
  check(alpha >= 0 && alpha <= 1, "APE smearing with a weight from 0 to 1");
  const layout& where = u.where();
  links<double> smooth(u);
  matrices staple(u.shared_layout());
  for (int i = 0; i < times; ++i) {
    for (int mu = 1; mu < 4; ++mu)
      for (const int p : {0, 1}) {
        staples(by, staple, u, p, mu, 1);
        by.hands.each("ape", std::size_t(where.half()), [&](std::size_t first, std::size_t end) {
          const std::int64_t start = p * where.half();
          for (std::int64_t b = start + std::int64_t(first); b < start + std::int64_t(end); ++b)
            for (int l = 0; l < where.lanes(); ++l) {
              auto link = get(view(u, mu), b, l);
              const auto sum = get(view(staple), b, l);
              for (int k = 0; k < 9; ++k) link[k] = (1 - alpha) * link[k] + alpha / 4 * sum[k];
              set(view(smooth, mu), b, l, projected(link));
            }
        });
      }
    u = smooth;
  }
}

void gaussian_smear(engine& by, spinors<double>& psi, const links<double>& u, double kappa, int times,
                    const angles& theta) {
  check(psi.which() == sites::all, "smearing takes fields on all sites");
  const layout& where = u.where();
  spinors<double> sum(psi), moved(psi), turned(psi);
  const auto add = [&](spinors<double>& out, const spinors<double>& in, const_matrix_view link, bool adjoint,
                       std::complex<double> z) {
    by.hands.each("smear", std::size_t(where.blocks()), [&](std::size_t first, std::size_t end) {
      detail::transport_blocks(where.lanes(), std::int64_t(first), std::int64_t(end),
                               {out.data(), in.data(), link, adjoint, z});
    });
  };
  const const_matrix_view none{nullptr, 0, &where};
  const double norm = 1 / (1 + 6 * kappa);
  for (int i = 0; i < times; ++i) {
    std::fill_n(sum.data(), sum.size(), 0.0);
    add(sum, psi, none, false, norm);
    for (int j = 1; j < 4; ++j) {
      const auto direction = std::size_t(j);
      const auto z =
          norm * kappa * std::polar(1.0, std::numbers::pi * theta[direction] / where.on().extents[direction]);
      for (const int p : {0, 1}) shift(by, p, moved, psi, j, 1);
      add(sum, moved, view(u, j), false, z);
      std::fill_n(turned.data(), turned.size(), 0.0);
      add(turned, psi, view(u, j), true, 1);
      for (const int p : {0, 1}) shift(by, p, moved, turned, j, -1);
      add(sum, moved, none, false, std::conj(z));
    }
    psi = sum;
  }
}

}  // namespace plaq::lqcd
