// The few BLAS and LAPACK calls that plaq needs, column-major. Products are in gemm.hpp.
#pragma once
#include <string>

namespace plaq::linalg {

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
