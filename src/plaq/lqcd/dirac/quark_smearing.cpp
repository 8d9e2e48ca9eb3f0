#include "plaq/lqcd/dirac/quark_smearing.hpp"

#include <algorithm>
#include <numbers>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

void gaussian_smear(context& ctx, spinors<double>& psi, const links<double>& u, double kappa, int times,
                    const angles& theta) {
  check(psi.subset() == sites::all, "smearing needs fields on all sites");
  const site_layout& layout = u.layout();
  spinors<double> sum(psi), shifted(psi), transported(psi);
  const auto add = [&](spinors<double>& out, const spinors<double>& in, const_matrix_view link, bool adjoint,
                       std::complex<double> z) {
    ctx.workers.parallel_for("smear", std::size_t(layout.groups()), [&](std::size_t first, std::size_t end) {
      detail::transport_groups(layout.lanes(), std::int64_t(first), std::int64_t(end),
                               {out.data(), in.data(), link, adjoint, z});
    });
  };
  const const_matrix_view none{nullptr, 0, &layout};
  const double norm = 1 / (1 + 6 * kappa);
  for (int i = 0; i < times; ++i) {
    std::fill_n(sum.data(), sum.size(), 0.0);
    add(sum, psi, none, false, norm);
    for (int j = 1; j < 4; ++j) {
      const auto direction = std::size_t(j);
      const auto z =
          norm * kappa * std::polar(1.0, std::numbers::pi * theta[direction] / layout.lattice().extents[direction]);
      for (const int p : {0, 1}) shift(ctx, p, shifted, psi, j, 1);
      add(sum, shifted, view(u, j), false, z);
      std::fill_n(transported.data(), transported.size(), 0.0);
      add(transported, psi, view(u, j), true, 1);
      for (const int p : {0, 1}) shift(ctx, p, shifted, transported, j, -1);
      add(sum, shifted, none, false, std::conj(z));
    }
    psi = sum;
  }
}

}  // namespace plaq::lqcd
