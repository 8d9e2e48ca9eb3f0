// Kernels of multigrid within an aggregate and on a site of the coarse lattice.
//
// Rows of n complex numbers are n real parts, then n imaginary parts; n is a multiple of 16. Test vectors are
// [site][2 half][row of n], the rows of the upper chirality first. Of spinors, half is 6, and spin s, colour c is row
// 3 s + c; on a coarse lattice, half is the number of vectors there.
// On the coarse lattice a site has the chiralities of each vector: a row of 2 n, the upper ones first.
#pragma once
#include <complex>
#include <cstdint>

namespace plaq::lqcd {

/// Computes coarse = V^+ psi, a row of 2 n, with psi [site][2 half][re, im].
void restrict_to(int n, int half, std::int64_t sites, const float* V, const float* psi, float* coarse);
/// Computes psi = V coarse.
void prolong_from(int n, int half, std::int64_t sites, const float* V, const float* coarse, float* psi);

/// Makes the columns of V orthonormal by Gram and Schmidt, separately for each chirality. Linearly dependent columns
/// become zero.
void orthonormalise(int n, int half, std::int64_t sites, float* V);

/// Computes out = u (1, -e_mu) V, six rows of 2 n, from one site's V; `u` is a 3 x 3 matrix, row by row, or null for
/// one. Since 1 - gamma_mu = (1, -e_mu)^+ (1, -e_mu), the adjoint of the result at a site without u times the result at
/// the neighbour ahead with the link to it is V^+ (1 - gamma_mu) U V.
void project_rows(int n, int mu, const float* V, const std::complex<float>* u, float* out);

/// Computes out = a V for six rows of n, with a 6 x 6 matrix a, row by row.
void multiply_rows(int n, const std::complex<float>* a, const float* V, float* out);

/// Adds A^+ B to C; A and B have `rows` rows of m, C has m rows of m.
void add_products(int m, std::int64_t rows, const float* A, const float* B, float* C);

/// Adds the sum over d < count of matrix_d x_d to out, rows of m. Matrices are [column][row of m].
void multiply_coarse(int m, int count, const float* const* matrices, const float* const* x, float* out);

/// Adds factor x to out, rows of m on `sites` sites.
void add_coarse(int m, std::int64_t sites, std::complex<float> factor, const float* x, float* out);
/// Returns conj(x) y of one site.
std::complex<float> multiply_coarse(int m, const float* x, const float* y);

}  // namespace plaq::lqcd
