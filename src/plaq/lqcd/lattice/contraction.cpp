#include "plaq/lqcd/lattice/contraction.hpp"

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/site_sum.hpp"

namespace plaq::lqcd {

namespace {

using number = std::complex<double>;

/// Returns `count` sums for each time slice of the whole lattice, [t, sum]. add(site, sums) adds to real and imaginary
/// parts; sites of this rank are in the order of its box.
template <class Add>
std::vector<number> sum_slices(context& ctx, const lattice& lat, int count, Add&& add) {
  const auto local = lat.local();
  const std::int64_t slice = product(local) / local[0];
  const int first_slice = lat.origin()[0];
  std::vector<number> values;
  ctx.workers.run("contract", [&] {
    for (int t = 0; t < lat.extents[0]; ++t) {
      const bool slice_is_local = t >= first_slice && t < first_slice + local[0];
      const auto sums = sum_over_sites(ctx, "contract", 2 * count, slice_is_local ? slice : 0,
                                       [&](std::size_t begin, std::size_t end, auto& parts) {
                                         for (std::size_t s = begin; s < end; ++s)
                                           add((t - first_slice) * slice + std::int64_t(s), parts);
                                       });
      for (int i = 0; i < count; ++i) values.emplace_back(sums[2 * i], sums[2 * i + 1]);
    }
  });
  return values;
}

constexpr int spins = 4, colours = 3, pairs = spins * spins;

}  // namespace

std::vector<number> slice_sums(context& ctx, const lattice& lat, const number* f) {
  return sum_slices(ctx, lat, 1, [&](std::int64_t site, auto& sums) {
    sums[0].add(f[site].real());
    sums[1].add(f[site].imag());
  });
}

std::vector<number> spin_tensor(context& ctx, const lattice& lat, int source_colours, const number* S,
                                const number* other) {
  check(source_colours >= 1 && source_colours <= colours, "a propagator has up to three colours at its source");
  const int inner = colours * source_colours;
  return sum_slices(ctx, lat, pairs * pairs, [&](std::int64_t site, auto& sums) {
    // Products of a matrix [a b][i j] and the adjoint of another one; the inner loop is over all c d.
    double re[colours * colours][pairs], im[colours * colours][pairs], sum_re[pairs], sum_im[pairs];
    const auto number_at = [&](const number* of, int pair, int k) {
      const int spin = pair / spins, source_spin = pair % spins, colour = k / source_colours;
      return of[((site * spins + spin) * colours + colour) * spins * source_colours + source_spin * source_colours +
                k % source_colours];
    };
    for (int k = 0; k < inner; ++k)
      for (int cd = 0; cd < pairs; ++cd)
        re[k][cd] = number_at(other, cd, k).real(), im[k][cd] = number_at(other, cd, k).imag();
    for (int ab = 0; ab < pairs; ++ab) {
      for (int cd = 0; cd < pairs; ++cd) sum_re[cd] = sum_im[cd] = 0;
      for (int k = 0; k < inner; ++k) {
        const double x = number_at(S, ab, k).real(), y = number_at(S, ab, k).imag();
        for (int cd = 0; cd < pairs; ++cd) {
          sum_re[cd] += x * re[k][cd] + y * im[k][cd];
          sum_im[cd] += y * re[k][cd] - x * im[k][cd];
        }
      }
      for (int cd = 0; cd < pairs; ++cd) {
        sums[2 * (ab * pairs + cd)].add(sum_re[cd]);
        sums[2 * (ab * pairs + cd) + 1].add(sum_im[cd]);
      }
    }
  });
}

}  // namespace plaq::lqcd
