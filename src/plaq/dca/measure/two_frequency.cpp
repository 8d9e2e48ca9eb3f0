#include "plaq/dca/measure/two_frequency.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/walk/phases.hpp"
#include "plaq/linalg/gemm.hpp"

namespace plaq::dca {

two_frequency::two_frequency(double beta, const momentum_tables& momenta, int frequencies,
                             std::vector<std::complex<double>> g0)
    : beta_(beta), momenta_(momenta), frequencies_(frequencies), g0_(g0.begin(), g0.end()) {
  const std::size_t n = momenta_.size;
  check(momenta_.fourier.size() == n * n && momenta_.sum.size() == n * n && momenta_.minus.size() == n,
        "two_frequency: momentum tables of another cluster");
  check(g0_.size() == n * frequencies, "two_frequency: g0 must be [K][n]");
  fourier_re_.resize(n * n);
  fourier_im_.resize(n * n);
  minus_fourier_im_.resize(n * n);
  real_fourier_ = true;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t r = 0; r < n; ++r) {
      const auto phase = momenta_.fourier[k * n + r];
      fourier_re_[r + k * n] = float(phase.real());
      fourier_im_[r + k * n] = float(phase.imag());
      minus_fourier_im_[r + k * n] = -float(phase.imag());
      if (std::abs(phase.imag()) > 1e-12) real_fourier_ = false;
    }
}

void two_frequency::prepare(const sample& s) {
  const int k = s.order(), f = frequencies_;
  phase_.reshape(k, 2 * f);
  for (int n = 0; n < f; ++n) fourier_phases(k, s.tau.data(), beta_, 2 * n + 1, phase_.column(n), phase_.column(f + n));
}

// Transforms in place, for every `outer`: out[K][inner] = sum_x e^{-+iKx} in[x][inner].
void two_frequency::to_momenta(bool conjugate, std::size_t outer, std::size_t inner, std::vector<float>& re,
                               std::vector<float>& im) {
  const int n = momenta_.size, rows = int(inner);
  const std::size_t step = inner * n;
  scratch_re_.resize(re.size());
  scratch_im_.resize(im.size());
  const float* f_im = conjugate ? minus_fourier_im_.data() : fourier_im_.data();
  const float* f_minus_im = conjugate ? fourier_im_.data() : minus_fourier_im_.data();
  for (std::size_t o = 0; o < outer; ++o) {
    const float* in_re = &re[o * step];
    const float* in_im = &im[o * step];
    float* out_re = &scratch_re_[o * step];
    float* out_im = &scratch_im_[o * step];
    using linalg::gemm;
    gemm<float>(false, false, rows, n, n, 1, in_re, rows, fourier_re_.data(), n, 0, out_re, rows);
    gemm<float>(false, false, rows, n, n, 1, in_im, rows, fourier_re_.data(), n, 0, out_im, rows);
    if (real_fourier_) continue;
    gemm<float>(false, false, rows, n, n, 1, in_im, rows, f_minus_im, n, 1, out_re, rows);
    gemm<float>(false, false, rows, n, n, 1, in_re, rows, f_im, n, 1, out_im, rows);
  }
  re.swap(scratch_re_);
  im.swap(scratch_im_);
}

void two_frequency::evaluate(const sample& s, int side, planes& g) {
  const int k = s.order(), f = frequencies_, n = momenta_.size;
  const std::size_t all = block() * n * n;
  g.re.assign(all, 0.f);
  g.im.assign(all, 0.f);
  if (k > 0) {
    // transformed_[p][x'][cos, sin of w'] = sum_{q in x'} M_pq (cos, sin)(w' tau_q)
    const auto& m = s.m[side];
    transformed_.reshape(k, 2 * f * n);
    for (int x2 = 0; x2 < n; ++x2) {
      const int first = s.first[x2], count = s.first[x2 + 1] - first;
      linalg::gemm<float>(false, false, k, 2 * f, count, 1, m.data() + std::size_t(first) * m.stride(), m.stride(),
                          phase_.data() + first, phase_.stride(), 0, transformed_.column(2 * f * x2),
                          transformed_.stride());
    }
    parts_.reshape(2 * f, 2 * f * n);
    for (int x1 = 0; x1 < n; ++x1) {
      const int first = s.first[x1], count = s.first[x1 + 1] - first;
      if (count == 0) continue;
      linalg::gemm<float>(true, false, 2 * f, 2 * f * n, count, 1, phase_.data() + first, phase_.stride(),
                          transformed_.data() + first, transformed_.stride(), 0, parts_.data(), parts_.stride());
      for (int x2 = 0; x2 < n; ++x2) {
        float* re = &g.re[block() * (std::size_t(x1) * n + x2)];
        float* im = &g.im[block() * (std::size_t(x1) * n + x2)];
        for (int b = 0; b < f; ++b) {
          const float* with_cos = parts_.column(2 * f * x2 + b);
          const float* with_sin = parts_.column(2 * f * x2 + f + b);
          for (int a = 0; a < f; ++a) {
            const float cc = with_cos[a], sc = with_cos[f + a], cs = with_sin[a], ss = with_sin[f + a];
            float* row_re = re + std::size_t(a) * 2 * f;
            float* row_im = im + std::size_t(a) * 2 * f;
            row_re[f + b] = cc + ss;
            row_im[f + b] = sc - cs;
            row_re[f - 1 - b] = cc - ss;
            row_im[f - 1 - b] = sc + cs;
          }
        }
      }
    }
    to_momenta(false, 1, block() * n, g.re, g.im);  // x -> K
    to_momenta(true, n, block(), g.re, g.im);       // x' -> K'
  }

  const float scale = float(-1 / (beta_ * n));
  for (int k1 = 0; k1 < n; ++k1)
    for (int k2 = 0; k2 < n; ++k2) {
      float* re = &g.re[block() * (std::size_t(k1) * n + k2)];
      float* im = &g.im[block() * (std::size_t(k1) * n + k2)];
      const int minus_k2 = momenta_.minus[k2];
      for (int a = 0; a < f; ++a) {
        const std::complex<float> left = scale * g0_[k1 * f + a];
        for (int b = 0; b < 2 * f; ++b) {
          const std::complex<float> g0 = b >= f ? g0_[k2 * f + b - f] : std::conj(g0_[minus_k2 * f + f - 1 - b]);
          const float w_re = left.real() * g0.real() - left.imag() * g0.imag();
          const float w_im = left.real() * g0.imag() + left.imag() * g0.real();
          const std::size_t i = std::size_t(a) * 2 * f + b;
          const float r = re[i] * w_re - im[i] * w_im;
          im[i] = re[i] * w_im + im[i] * w_re;
          re[i] = r;
        }
        if (k1 == k2) {
          const std::size_t i = std::size_t(a) * 2 * f + f + a;
          re[i] += g0_[k1 * f + a].real();
          im[i] += g0_[k1 * f + a].imag();
        }
      }
    }
}

}  // namespace plaq::dca
