#include "plaq/dca/measure/single_particle.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/walk/phases.hpp"
#include "plaq/linalg/gemm.hpp"

namespace plaq::dca {

single_particle::single_particle(double beta, int sites, std::vector<int> odd, std::vector<int> difference)
    : beta_(beta),
      sites_(sites),
      odd_(std::move(odd)),
      difference_(std::move(difference)),
      sum_(std::size_t(2) * sites * odd_.size()) {
  check(difference_.size() == std::size_t(sites) * sites, "single_particle: differences must be sites x sites");
  for (int n : odd_) check(n > 0 && n % 2 == 1, "single_particle: frequencies are positive odd numbers");
}

void single_particle::accumulate(const sample& s) {
  const int k = s.order(), frequencies = int(odd_.size());
  if (k == 0) return;
  phase_.reshape(k, 2 * frequencies);
  for (int f = 0; f < frequencies; ++f)
    fourier_phases(k, s.tau.data(), beta_, odd_[f], phase_.column(f), phase_.column(frequencies + f));

  transformed_.reshape(k, 2 * frequencies);
  for (int x2 = 0; x2 < sites_; ++x2) {
    const int first = s.first[x2], count = s.first[x2 + 1] - first;
    if (count == 0) continue;
    for (int side = 0; side < 2; ++side) {
      const auto& m = s.m[side];
      linalg::gemm<float>(false, false, k, 2 * frequencies, count, 1, m.column(first), m.stride(),
                          phase_.data() + first, phase_.stride(), 0, transformed_.data(), transformed_.stride());
      for (int x1 = 0; x1 < sites_; ++x1) {
        double* sum = &sum_[std::size_t(2) * frequencies * difference_[x1 * sites_ + x2]];
        for (int f = 0; f < frequencies; ++f) {
          const float* c = phase_.column(f);
          const float* z = phase_.column(frequencies + f);
          const float* yc = transformed_.column(f);
          const float* ys = transformed_.column(frequencies + f);
          float re[8] = {}, im[8] = {};
          int p = s.first[x1];
          const int end = s.first[x1 + 1];
          for (; p + 8 <= end; p += 8)
            for (int l = 0; l < 8; ++l) {
              re[l] += c[p + l] * yc[p + l] + z[p + l] * ys[p + l];
              im[l] += z[p + l] * yc[p + l] - c[p + l] * ys[p + l];
            }
          double total_re = 0, total_im = 0;
          for (; p < end; ++p) {
            total_re += c[p] * yc[p] + z[p] * ys[p];
            total_im += z[p] * yc[p] - c[p] * ys[p];
          }
          for (int l = 0; l < 8; ++l) total_re += re[l], total_im += im[l];
          sum[2 * f] += 0.5 * s.weight() * total_re;
          sum[2 * f + 1] += 0.5 * s.weight() * total_im;
        }
      }
    }
  }
}

void single_particle::flush(std::span<double> out) {
  check(out.size() == size(), "single_particle: flush into an array of another size");
  for (std::size_t i = 0; i < sum_.size(); ++i) out[i] += sum_[i];
  std::fill(sum_.begin(), sum_.end(), 0.);
}

}  // namespace plaq::dca
