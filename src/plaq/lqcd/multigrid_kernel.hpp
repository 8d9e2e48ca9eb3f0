// What multigrid does within an aggregate and on a site of the coarse lattice.
//
// Rows of n complex numbers are n real parts, then n imaginary parts; n is a multiple of 16. Test vectors are
// [site][12][row of n]: spin s, colour c of a site is row 3 s + c, so that the upper chirality comes first.
// On the coarse lattice a site has the chiralities of each vector: a row of 2 n, the upper ones first.
#pragma once
#include <complex>
#include <cstdint>

namespace plaq::lqcd {

/// coarse = V^+ psi of so many sites, psi [site][12][re, im], a row of 2 n.
void restrict_to(int n, std::int64_t sites, const float* V, const float* psi, float* coarse);
/// psi = V coarse.
void prolong_from(int n, std::int64_t sites, const float* V, const float* coarse, float* psi);

/// Makes the columns of V orthonormal, by Gram and Schmidt, for each chirality by itself. What is left of those
/// that depend on others is zero.
void orthonormalise(int n, std::int64_t sites, float* V);

/// out = u (1, -e_mu) V, six rows of 2 n, of one site's V; `u` is a 3 x 3 matrix, row by row, or nowhere: one.
/// Since 1 - gamma_mu = (1, -e_mu)^+ (1, -e_mu), what this makes of a site without u, conjugated, times what it makes
/// of the neighbour ahead with the link to it, is V^+ (1 - gamma_mu) U V.
void project_rows(int n, int mu, const float* V, const std::complex<float>* u, float* out);

/// out = a V for six rows of n, with a 6 x 6 matrix, row by row.
void multiply_rows(int n, const std::complex<float>* a, const float* V, float* out);

/// C += A^+ B where A and B are so many rows of m, C is m rows of m.
void add_products(int m, std::int64_t rows, const float* A, const float* B, float* C);

/// out += sum over d < count of matrix_d x_d, rows of m. Matrices are [column][row of m].
void multiply_coarse(int m, int count, const float* const* matrices, const float* const* x, float* out);

/// out += factor x, for rows of m of so many sites.
void add_coarse(int m, std::int64_t sites, std::complex<float> factor, const float* x, float* out);
/// Of one site, conj(x) y.
std::complex<float> multiply_coarse(int m, const float* x, const float* y);

}  // namespace plaq::lqcd
