// Single matrices of a field, for operations link by link.
#pragma once
#include "plaq/lqcd/gauge/matrices.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"

namespace plaq::lqcd {

inline su3_matrix get(const_matrix_view m, std::int64_t group, int lane) {
  const int n = m.layout->lanes();
  const double* at = m.group(group) + lane;
  su3_matrix u;
  for (int i = 0; i < 9; ++i) u[i] = {at[2 * i * n], at[(2 * i + 1) * n]};
  return u;
}

inline void set(matrix_view<double> m, std::int64_t group, int lane, const su3_matrix& u) {
  const int n = m.layout->lanes();
  double* at = m.group(group) + lane;
  for (int i = 0; i < 9; ++i) at[2 * i * n] = u[i].real(), at[(2 * i + 1) * n] = u[i].imag();
}

inline su3_matrix times(const su3_matrix& a, const su3_matrix& b) {
  su3_matrix c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
  return c;
}

/// Returns a b^+.
inline su3_matrix times_adjoint(const su3_matrix& a, const su3_matrix& b) {
  su3_matrix c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      c[3 * i + j] = 0;
      for (int k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * std::conj(b[3 * j + k]);
    }
  return c;
}

/// Returns (m - m^+) / 2 without its trace.
inline su3_matrix antihermitian(const su3_matrix& m) {
  su3_matrix a;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) a[3 * i + j] = (m[3 * i + j] - std::conj(m[3 * j + i])) / 2.0;
  const auto third = (a[0] + a[4] + a[8]) / 3.0;
  for (const int i : {0, 4, 8}) a[i] -= third;
  return a;
}

}  // namespace plaq::lqcd
