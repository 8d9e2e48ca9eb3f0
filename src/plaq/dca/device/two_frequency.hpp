// Function G_sigma(k, k') of a configuration on a device, as dca::two_frequency.
#pragma once
#include "plaq/dca/device/single_particle.hpp"

namespace plaq::dca::device {

/// Computes the phases of both spins' functions.
template <class Team>
PLAQ_BY_TEAM void prepare_two_frequency(const measured_sample<Team>& s) {
  compute_phases(s, s.rules.sizes.pair_frequencies, [](int n) { return 2 * n + 1; }, s.r.pair_phase);
}

/// Computes G(k, k') of one spin: products for pairs of sites, transforms to both momenta, then factors G0 on both
/// sides.
template <class Team>
PLAQ_BY_TEAM void compute_two_frequency(const measured_sample<Team>& s, int side, const number* g0) {
  const measurement_workspace& r = s.r;
  const measurement_sizes& sizes = s.rules.sizes;
  const int sites = sizes.sites, F = sizes.pair_frequencies, width = 2 * F, columns = sites * width;
  transform(s, side, F, r.pair_phase);
  gpu::multiply(
      s.team, sites, width, columns,
      [&](int x) {
        const int first = r.first[x];
        return gpu::product<float>{r.first[x + 1] - first,
                                   r.pair_phase + std::size_t(first) * width,
                                   1,
                                   width,
                                   r.transformed + std::size_t(first) * columns,
                                   columns};
      },
      [&](int x, int b, int c, float sum) { r.parts[(std::size_t(x) * width + b) * columns + c] = sum; });

  // mixed = sum_x e^{-iKx} (x, w_n; x', w_n'), where e^{i w tau} and e^{-i w' tau'} are made of cosines and sines.
  s.team.grid(width, sites * sites * F, [&](int b, int at) {
    const int n = at % F, pair = at / F, K = pair / sites, y = pair - K * sites;
    const bool positive = b >= F;
    const int m = positive ? b - F : F - 1 - b;
    number sum{};
    for (int x = 0; x < sites; ++x) {
      const float* const with_cos = r.parts + ((std::size_t(x) * width + n) * sites + y) * width + m;
      const float* const with_sin = with_cos + std::size_t(F) * columns;
      const float cc = with_cos[0], cs = with_cos[F], sc = with_sin[0], ss = with_sin[F];
      const number value = positive ? number{cc + ss, sc - cs} : number{cc - ss, sc + cs};
      sum = add_product(sum, value, s.rules.fourier[K * sites + x]);
    }
    r.mixed[std::size_t(at) * width + b] = sum;
  });

  const float scale = float(-1 / (s.rules.beta * sites));
  s.team.grid(width, sites * sites * F, [&](int b, int at) {
    const int n = at % F, pair = at / F, K = pair / sites, Q = pair - K * sites;
    number sum{};
    for (int y = 0; y < sites; ++y)
      sum = add_product(sum, r.mixed[((std::size_t(K) * sites + y) * F + n) * width + b],
                        s.rules.fourier[Q * sites + y].conjugate());
    const number left = g0[K * F + n];
    const number right = b >= F ? g0[Q * F + b - F] : g0[s.rules.minus[Q] * F + F - 1 - b].conjugate();
    const number both = add_product({}, {scale * left.re, scale * left.im}, right);
    const number g = add_product(K == Q && b == F + n ? left : number{}, sum, both);
    r.g[side][std::size_t(at) * width + b] = g;
    if (sizes.same_spin) r.across[side][(std::size_t(pair) * width + b) * F + n] = g;
  });
}

/// View of one spin's function at frequencies of either sign: G(-k, -k') = G(k, k')*.
struct green_view {
  const number *g, *across;
  int sites, frequencies;
  const int* minus;

  /// Returns G(K, n; Q, m).
  PLAQ_ANYWHERE number operator()(int K, int n, int Q, int m) const {
    const bool mirrored = mirror(K, n, Q, m);
    return conjugate_if(mirrored,
                        g[(std::size_t(K * sites + Q) * frequencies + n) * 2 * frequencies + m + frequencies]);
  }
  /// Returns G(K, n; Q, m) from the array that is contiguous in n instead of m.
  PLAQ_ANYWHERE number by_columns(int K, int n, int Q, int m) const {
    const bool mirrored = mirror(K, n, Q, m);
    return conjugate_if(mirrored,
                        across[(std::size_t(K * sites + Q) * 2 * frequencies + m + frequencies) * frequencies + n]);
  }

 private:
  PLAQ_ANYWHERE bool mirror(int& K, int& n, int& Q, int& m) const {
    if (n >= 0) return false;
    K = minus[K], Q = minus[Q], n = -1 - n, m = -1 - m;
    return true;
  }
  PLAQ_ANYWHERE static number conjugate_if(bool mirrored, number x) { return mirrored ? x.conjugate() : x; }
};

}  // namespace plaq::dca::device
