// The few BLAS and LAPACK calls that plaq needs, column-major, with checked arguments.
#pragma once
#include <string>

namespace plaq::linalg {

/// C(m x n) = alpha op(A) op(B) + beta C, with op = transpose where asked; inner dimension k.
template <class Real>
void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, Real alpha, const Real* a, int lda,
          const Real* b, int ldb, Real beta, Real* c, int ldc);

/// y = alpha op(A) x + beta y; A is m x n.
template <class Real>
void gemv(bool transpose, int m, int n, Real alpha, const Real* a, int lda, const Real* x, Real beta, Real* y);

/// A(m x n) += alpha x y^T.
template <class Real>
void ger(int m, int n, Real alpha, const Real* x, const Real* y, Real* a, int lda);

/// Sign and log|.| of a determinant.
struct log_det {
  double sign;
  double log;
};

/// Replaces the n x n matrix A by its inverse. Throws runtime_failure if A is singular.
template <class Real>
log_det invert(int n, Real* a, int lda);

/// The name of the kernel set that the BLAS library chose at run time, e.g. "Zen" or "SkylakeX".
std::string blas_core();

/// Threads belong to plaq::task: BLAS runs on the thread that calls it.
void use_one_blas_thread();

}  // namespace plaq::linalg
