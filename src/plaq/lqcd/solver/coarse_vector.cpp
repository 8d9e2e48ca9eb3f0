#include "plaq/lqcd/solver/coarse_vector.hpp"

#include "plaq/lqcd/lattice/site_sum.hpp"
#include "plaq/lqcd/solver/multigrid_kernel.hpp"

namespace plaq::lqcd {

std::complex<double> dot(context& ctx, const coarse_vector& x, const coarse_vector& y) {
  const auto sums_of_parts =
      sum_over_sites(ctx, "dot", 2, x.count, [&](std::size_t first, std::size_t end, auto& sums) {
        for (std::size_t i = first; i < end; ++i) {
          const auto z = multiply_coarse(x.size, x.row(std::int64_t(i)), y.row(std::int64_t(i)));
          sums[0].add(z.real()), sums[1].add(z.imag());
        }
      });
  return {sums_of_parts[0], sums_of_parts[1]};
}

double norm2(context& ctx, const coarse_vector& x) { return dot(ctx, x, x).real(); }

void add(context& ctx, coarse_vector& y, std::complex<double> a, const coarse_vector& x) {
  ctx.workers.parallel_for("add", std::size_t(y.count), [&](std::size_t first, std::size_t end) {
    const auto at = std::int64_t(first);
    add_coarse(y.size, std::int64_t(end - first), std::complex<float>(a), x.row(at), y.row(at));
  });
}

}  // namespace plaq::lqcd
