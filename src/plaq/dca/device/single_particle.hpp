// Measurement of M(R, i w) on a device, as dca::single_particle, and the transforms that G(k, k') uses too.
#pragma once
#include "plaq/dca/device/measured_sample.hpp"
#include "plaq/dca/walk/phases.hpp"
#include "plaq/gpu/product.hpp"

namespace plaq::dca::device {

/// Computes phase[q][cos, sin][f] of the times tau_q at the frequencies odd(f) pi / beta.
template <class Team, class Odd>
PLAQ_BY_TEAM void compute_phases(const measured_sample<Team>& s, int frequencies, Odd&& odd, float* phase) {
  s.team.grid(frequencies, s.order, [&](int f, int q) {
    float* const of = phase + std::size_t(q) * 2 * frequencies;
    fourier_phase(s.r.tau[q] * (odd(f) / (2 * s.rules.beta)), of[f], of[frequencies + f]);
  });
}

/// Computes transformed[q][x'][c] = sum_{q' in x'} M_qq' phase[q'][c].
template <class Team>
PLAQ_BY_TEAM void transform(const measured_sample<Team>& s, int side, int frequencies, const float* phase) {
  const measurement_workspace& r = s.r;
  const int columns = 2 * frequencies, k = s.order, sites = s.rules.sizes.sites;
  gpu::multiply(
      s.team, sites, k, columns,
      [&](int x) {
        const int first = r.first[x];
        return gpu::product<float>{r.first[x + 1] - first,
                                   r.m[side] + std::size_t(first) * k,
                                   1,
                                   k,
                                   phase + std::size_t(first) * columns,
                                   columns};
      },
      [&](int x, int q, int c, float sum) { r.transformed[(std::size_t(q) * sites + x) * columns + c] = sum; });
}

/// Computes the phases of the single-particle function.
template <class Team>
PLAQ_BY_TEAM void prepare_single_particle(const measured_sample<Team>& s) {
  compute_phases(s, s.rules.sizes.frequencies, [&](int f) { return s.rules.odd[f]; }, s.r.phase);
}

/// Adds weight M(R, i w), as dca::single_particle.
template <class Team>
PLAQ_BY_TEAM void measure_single_particle(const measured_sample<Team>& s, double* sums) {
  const measurement_workspace& r = s.r;
  const int sites = s.rules.sizes.sites, F = s.rules.sizes.frequencies, columns = 2 * F;
  const double half = 0.5 * s.weight();
  for (int side = 0; side < 2; ++side) {
    transform(s, side, F, r.phase);
    s.team.grid(F, sites * sites, [&](int f, int at) {
      const int x = at / sites, y = at - x * sites;
      number sum{};
      for (int q = r.first[x]; q < r.first[x + 1]; ++q) {
        const float* const phase = r.phase + std::size_t(q) * columns;
        const float* const right = r.transformed + (std::size_t(q) * sites + y) * columns;
        sum = add_product(sum, {phase[f], phase[F + f]}, number{right[f], right[F + f]}.conjugate());
      }
      r.by_sites[std::size_t(at) * F + f] = sum;
    });
    s.team.grid(F, sites, [&](int f, int R) {
      double re = 0, im = 0;
      for (int x = 0; x < sites; ++x) {
        const number& pair = r.by_sites[(std::size_t(x) * sites + s.rules.partner[R * sites + x]) * F + f];
        re += pair.re;
        im += pair.im;
      }
      double* const sum = sums + 2 * (std::size_t(R) * F + f);
      sum[0] = std::fma(half, re, sum[0]);
      sum[1] = std::fma(half, im, sum[1]);
    });
  }
}

}  // namespace plaq::dca::device
