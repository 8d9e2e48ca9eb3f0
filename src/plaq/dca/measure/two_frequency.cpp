#include "plaq/dca/measure/two_frequency.hpp"

#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/dca/walk/phases.hpp"
#include "plaq/linalg/gemm.hpp"

namespace plaq::dca {

namespace {
// x *= left * right, complex, for `n` numbers of x and right.
void multiply_row(int n, std::complex<float> left, const float* __restrict right_re, const float* __restrict right_im,
                  float* __restrict re, float* __restrict im) {
  const float l_re = left.real(), l_im = left.imag();
  for (int b = 0; b < n; ++b) {
    const float w_re = l_re * right_re[b] - l_im * right_im[b], w_im = l_re * right_im[b] + l_im * right_re[b];
    const float r = re[b] * w_re - im[b] * w_im;
    im[b] = re[b] * w_im + im[b] * w_re;
    re[b] = r;
  }
}
}  // namespace

two_frequency::two_frequency(double beta, const momentum_tables& momenta, int frequencies,
                             std::vector<std::complex<double>> g0)
    : beta_(beta),
      momenta_(momenta),
      frequencies_(frequencies),
      g0_(g0.begin(), g0.end()),
      transform_(momenta.fourier) {
  const std::size_t n = momenta_.size;
  check(momenta_.fourier.size() == n * n && momenta_.sum.size() == n * n && momenta_.minus.size() == n,
        "two_frequency: momentum tables of another cluster");
  check(g0_.size() == n * frequencies, "two_frequency: g0 must be [K][n]");
  for (std::size_t k = 0; k < n; ++k)
    for (int b = -frequencies; b < frequencies; ++b) {
      const auto value = b >= 0 ? g0_[k * frequencies + b] : std::conj(g0_[momenta_.minus[k] * frequencies - 1 - b]);
      both_signs_.re.push_back(value.real());
      both_signs_.im.push_back(value.imag());
    }
}

void two_frequency::prepare(const sample& s) {
  const int k = s.order(), f = frequencies_;
  phase_.reshape(k, 2 * f);
  for (int n = 0; n < f; ++n) fourier_phases(k, s.tau.data(), beta_, 2 * n + 1, phase_.column(n), phase_.column(f + n));
}

void two_frequency::evaluate(const sample& s, int side, planes& g) {
  const int n = momenta_.size;
  const std::size_t row = block() * n;
  g.re.assign(row * n, 0.f);
  g.im.assign(row * n, 0.f);
  if (s.order() > 0) {
    transform_times(s, s.m[side], g);
    transform_.apply(false, row, g.re.data(), g.im.data());                                            // x -> K
    for (int k1 = 0; k1 < n; ++k1) transform_.apply(true, block(), &g.re[k1 * row], &g.im[k1 * row]);  // x' -> K'
  }
  attach_g0(g);
}

// g[x][x'][w][w'] = sum_{p in x, q in x'} e^{i w tau_p} M_pq e^{-i w' tau_q}
void two_frequency::transform_times(const sample& s, const linalg::matrix<float>& m, planes& g) {
  const int k = s.order(), f = frequencies_, n = momenta_.size;
  // transformed_[p][x'][cos, sin of w'] = sum_{q in x'} M_pq (cos, sin)(w' tau_q)
  transformed_.reshape(k, 2 * f * n);
  for (int x2 = 0; x2 < n; ++x2) {
    const int first = s.first[x2], count = s.first[x2 + 1] - first;
    linalg::gemm<float>(false, false, k, 2 * f, count, 1, m.data() + std::size_t(first) * m.stride(), m.stride(),
                        phase_.data() + first, phase_.stride(), 0, transformed_.column(2 * f * x2),
                        transformed_.stride());
  }
  parts_.reshape(2 * f * n, 2 * f);  // [x'][cos, sin of w'], a column for cos and for sin of every w
  for (int x1 = 0; x1 < n; ++x1) {
    const int first = s.first[x1], count = s.first[x1 + 1] - first;
    if (count == 0) continue;
    linalg::gemm<float>(true, false, 2 * f * n, 2 * f, count, 1, transformed_.data() + first, transformed_.stride(),
                        phase_.data() + first, phase_.stride(), 0, parts_.data(), parts_.stride());
    for (int x2 = 0; x2 < n; ++x2)
      for (int a = 0; a < f; ++a) {
        const float* with_cos = parts_.column(a) + 2 * f * x2;
        const float* with_sin = parts_.column(f + a) + 2 * f * x2;
        const std::size_t to = block() * (std::size_t(x1) * n + x2) + std::size_t(a) * 2 * f + f;
        set_row(f, with_cos, with_sin, &g.re[to], &g.im[to]);
      }
  }
}

// Row of one w over w' of both signs, from its products of cos (first f numbers) and sin of w' with cos and sin of w.
void two_frequency::set_row(int f, const float* with_cos, const float* with_sin, float* re, float* im) {
  for (int b = 0; b < f; ++b) {
    re[b] = with_cos[b] + with_sin[f + b];
    im[b] = with_sin[b] - with_cos[f + b];
  }
  for (int b = 0; b < f; ++b) {
    re[-1 - b] = with_cos[b] - with_sin[f + b];
    im[-1 - b] = with_sin[b] + with_cos[f + b];
  }
}

// G(k, k') = G0(k) delta_kk' - G0(k) M(k, k') G0(k') / (beta Nc)
void two_frequency::attach_g0(planes& g) const {
  const int f = frequencies_, n = momenta_.size;
  const float scale = float(-1 / (beta_ * n));
  for (int k1 = 0; k1 < n; ++k1)
    for (int k2 = 0; k2 < n; ++k2) {
      const std::size_t at = block() * (std::size_t(k1) * n + k2);
      const float* right_re = &both_signs_.re[std::size_t(k2) * 2 * f];
      const float* right_im = &both_signs_.im[std::size_t(k2) * 2 * f];
      for (int a = 0; a < f; ++a) {
        const std::complex<float> left = scale * g0_[k1 * f + a];
        multiply_row(2 * f, left, right_re, right_im, &g.re[at + std::size_t(a) * 2 * f],
                     &g.im[at + std::size_t(a) * 2 * f]);
      }
      for (int a = 0; k1 == k2 && a < f; ++a) {
        const std::size_t i = at + std::size_t(a) * 2 * f + f + a;
        g.re[i] += g0_[k1 * f + a].real();
        g.im[i] += g0_[k1 * f + a].imag();
      }
    }
}

}  // namespace plaq::dca
