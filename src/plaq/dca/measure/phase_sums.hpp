// Sums of M over pairs of operators with the phases of Matsubara frequencies.
#pragma once
#include <cstddef>
#include <vector>

#include "plaq/dca/walk/phases.hpp"
#include "plaq/linalg/gemm.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca {

/// Operators ordered by site, with their phases.
struct phased_operators {
  const std::vector<int>& first;       ///< those of site x are first[x] ... first[x + 1] - 1
  const linalg::matrix<float>& phase;  ///< cosines of all frequencies, then sines
};

/// Computes phases of operators at these times, for w = odd pi / beta.
inline void compute_phases(const std::vector<double>& tau, double beta, const std::vector<int>& odd,
                           linalg::matrix<float>& phase) {
  const int frequencies = int(odd.size());
  phase.reshape(int(tau.size()), 2 * frequencies);
  for (int f = 0; f < frequencies; ++f)
    fourier_phases(int(tau.size()), tau.data(), beta, odd[std::size_t(f)], phase.column(f),
                   phase.column(frequencies + f));
}

/// Adds weight sum_{p in x1, q in x2} e^{i w (tau_p - tau_q)} M_pq to sum[difference[x1 * sites + x2]][w][re, im], for
/// all x1. `transformed` is for intermediate results.
inline void add_phased_columns(int sites, int x2, const phased_operators& rows, const phased_operators& columns,
                               const linalg::matrix<float>& m, double weight, const std::vector<int>& difference,
                               linalg::matrix<float>& transformed, std::vector<double>& sum_of) {
  const int k = rows.phase.rows(), frequencies = rows.phase.columns() / 2;
  const int begin = columns.first[x2], count = columns.first[x2 + 1] - begin;
  linalg::gemm<float>(false, false, k, 2 * frequencies, count, 1, m.column(begin), m.stride(),
                      columns.phase.data() + begin, columns.phase.stride(), 0, transformed.data(),
                      transformed.stride());
  for (int x1 = 0; x1 < sites; ++x1) {
    double* sum = &sum_of[std::size_t(2) * frequencies * difference[x1 * sites + x2]];
    for (int f = 0; f < frequencies; ++f) {
      const float* c = rows.phase.column(f);
      const float* z = rows.phase.column(frequencies + f);
      const float* yc = transformed.column(f);
      const float* ys = transformed.column(frequencies + f);
      float re[8] = {}, im[8] = {};
      int p = rows.first[x1];
      const int end = rows.first[x1 + 1];
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
      sum[2 * f] += weight * total_re;
      sum[2 * f + 1] += weight * total_im;
    }
  }
}

}  // namespace plaq::dca
