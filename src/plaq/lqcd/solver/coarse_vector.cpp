#include "plaq/lqcd/solver/coarse_vector.hpp"

#include "plaq/lqcd/lattice/site_sum.hpp"
#include "plaq/lqcd/solver/multigrid_kernel.hpp"

namespace plaq::lqcd {

std::vector<std::complex<double>> dots(context& ctx, const std::vector<const coarse_vector*>& x,
                                       const coarse_vector& y) {
  const auto parts =
      sum_over_sites(ctx, "dots", int(2 * x.size()), y.count, [&](std::size_t first, std::size_t end, auto& sums) {
        for (auto a = std::int64_t(first); a < std::int64_t(end); ++a)
          for (std::size_t i = 0; i < x.size(); ++i) {
            const auto z = multiply_coarse(y.size, x[i]->row(a), y.row(a));
            sums[2 * i].add(z.real()), sums[2 * i + 1].add(z.imag());
          }
      });
  std::vector<std::complex<double>> products;
  for (std::size_t i = 0; i < x.size(); ++i) products.emplace_back(parts[2 * i], parts[2 * i + 1]);
  return products;
}

std::complex<double> dot(context& ctx, const coarse_vector& x, const coarse_vector& y) { return dots(ctx, {&x}, y)[0]; }

double norm2(context& ctx, const coarse_vector& x) { return dot(ctx, x, x).real(); }

void add(context& ctx, coarse_vector& y, std::complex<double> a, const coarse_vector& x) {
  add(ctx, y, {&a, 1}, {&x, 1});
}

void add(context& ctx, coarse_vector& y, std::span<const std::complex<double>> a, std::span<const coarse_vector> x) {
  ctx.workers.parallel_for("add", std::size_t(y.count), [&](std::size_t first, std::size_t end) {
    for (auto s = std::int64_t(first); s < std::int64_t(end); ++s)
      for (std::size_t i = 0; i < a.size(); ++i)
        add_coarse(y.size, 1, std::complex<float>(a[i]), x[i].row(s), y.row(s));
  });
}

}  // namespace plaq::lqcd
