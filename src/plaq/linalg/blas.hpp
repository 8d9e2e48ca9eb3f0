// The few BLAS and LAPACK calls that plaq needs, column-major.
#pragma once
#include <string>

namespace plaq::linalg {

/// C(m x n) = alpha op(A) op(B) + beta C, with op = transpose where asked; inner dimension k.
template <class Real>
void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, Real alpha, const Real* a, int lda,
          const Real* b, int ldb, Real beta, Real* c, int ldc);

/// Sign and log|.| of a determinant.
struct log_det {
  double sign;
  double log;
};

/// Replaces the n x n matrix A by its inverse. Throws runtime_failure if A is singular.
log_det invert(int n, double* a, int lda);

/// The name of the kernel set that the BLAS library chose at run time, e.g. "Zen" or "SkylakeX".
std::string blas_core();

/// Threads belong to plaq::task: BLAS runs on the thread that calls it.
void use_one_blas_thread();

}  // namespace plaq::linalg
