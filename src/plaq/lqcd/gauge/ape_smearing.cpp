#include "plaq/lqcd/gauge/ape_smearing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/gauge/staples.hpp"

namespace plaq::lqcd {

namespace {

/// Returns the inverse of m^+, and det m.
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

/// Returns V (V^+ V)^(-1/2) by Newton's iteration V -> (V + V^+^-1) / 2, divided by the cube root of its determinant.
su3_matrix project_to_su3(su3_matrix v) {
  constexpr int max_steps = 60;
  for (int i = 0;; ++i) {
    const auto [inverse, det] = inverse_adjoint(v);
    double change = 0;
    for (int k = 0; k < 9; ++k) {
      const auto next = (v[k] + inverse[k]) / 2.0;
      change = std::max(change, std::abs(next - v[k]));
      v[k] = next;
    }
    if (change < 8e-15 || i == max_steps || !std::isfinite(change)) break;
  }
  const auto third = std::pow(inverse_adjoint(v).second, -1.0 / 3);
  for (auto& x : v) x *= third;
  make_unitary(v);  // rounding only
  return v;
}

}  // namespace

void ape_smear(context& ctx, links<double>& u, double alpha, int times) {
  check(alpha >= 0 && alpha <= 1, "APE smearing with a weight from 0 to 1");
  const site_layout& layout = u.layout();
  links<double> smooth(u);
  matrices staple(u.shared_layout());
  for (int i = 0; i < times; ++i) {
    for (int mu = 1; mu < 4; ++mu)
      for (const int p : {0, 1}) {
        staples(ctx, staple, u, p, mu, 1);
        ctx.workers.parallel_for("ape", std::size_t(layout.half()), [&](std::size_t first, std::size_t end) {
          const std::int64_t start = p * layout.half();
          for (std::int64_t b = start + std::int64_t(first); b < start + std::int64_t(end); ++b)
            for (int l = 0; l < layout.lanes(); ++l) {
              auto link = get(view(u, mu), b, l);
              const auto sum = get(view(staple), b, l);
              for (int k = 0; k < 9; ++k) link[k] = (1 - alpha) * link[k] + alpha / 4 * sum[k];
              set(view(smooth, mu), b, l, project_to_su3(link));
            }
        });
      }
    u = smooth;
  }
}

}  // namespace plaq::lqcd
