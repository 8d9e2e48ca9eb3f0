#include "plaq/lqcd/dirac/quark_smearing.hpp"

#include <algorithm>
#include <numbers>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

namespace {

using number = std::complex<double>;

/// Adds z U in to out, or z U^+ in; z in without links.
void add(context& ctx, spinors<double>& out, const spinors<double>& in, const_matrix_view link, bool adjoint,
         number z) {
  const site_layout& layout = in.layout();
  ctx.workers.parallel_for("smear", std::size_t(layout.groups()), [&](std::size_t first, std::size_t end) {
    detail::transport_groups(layout.lanes(), std::int64_t(first), std::int64_t(end),
                             {out.data(), in.data(), link, adjoint, z});
  });
}

/// Adds z U_mu(x) psi(x + mu) to out, or z^* U_mu(x - mu)^+ psi(x - mu) for step = -1. `shifted` and `other` are
/// overwritten.
void add_transported(context& ctx, spinors<double>& out, const spinors<double>& psi, const links<double>& u, int mu,
                     int step, number z, spinors<double>& shifted, spinors<double>& other) {
  if (step > 0) {
    for (const int p : {0, 1}) shift(ctx, p, shifted, psi, mu, 1);
    add(ctx, out, shifted, view(u, mu), false, z);
    return;
  }
  std::fill_n(other.data(), other.size(), 0.0);
  add(ctx, other, psi, view(u, mu), true, 1);
  for (const int p : {0, 1}) shift(ctx, p, shifted, other, mu, -1);
  add(ctx, out, shifted, const_matrix_view{nullptr, 0, &u.layout()}, false, std::conj(z));
}

number phase_of_link(const links<double>& u, int mu, const angles& theta) {
  const auto direction = std::size_t(mu);
  return std::polar(1.0, std::numbers::pi * theta[direction] / u.layout().lattice().extents[direction]);
}

}  // namespace

void gaussian_smear(context& ctx, spinors<double>& psi, const links<double>& u, double kappa, int times,
                    const angles& theta) {
  check(psi.subset() == sites::all, "smearing needs fields on all sites");
  spinors<double> sum(psi), shifted(psi), other(psi);
  const double norm = 1 / (1 + 6 * kappa);
  for (int i = 0; i < times; ++i) {
    std::fill_n(sum.data(), sum.size(), 0.0);
    add(ctx, sum, psi, {nullptr, 0, &u.layout()}, false, norm);
    for (int j = 1; j < 4; ++j)
      for (const int step : {1, -1})
        add_transported(ctx, sum, psi, u, j, step, norm * kappa * phase_of_link(u, j, theta), shifted, other);
    psi = sum;
  }
}

spinors<double> transport(context& ctx, const spinors<double>& psi, const links<double>& u, int mu, int step,
                          const angles& theta) {
  check(psi.subset() == sites::all, "a transport needs fields on all sites");
  check(mu >= 0 && mu < 4 && (step == 1 || step == -1), "a transport goes one site along a direction");
  spinors<double> out(psi), shifted(psi), other(psi);
  std::fill_n(out.data(), out.size(), 0.0);
  add_transported(ctx, out, psi, u, mu, step, phase_of_link(u, mu, theta), shifted, other);
  return out;
}

}  // namespace plaq::lqcd
