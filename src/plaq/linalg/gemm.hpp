// Matrix products, column-major.
#pragma once

namespace plaq::linalg {

/// C(m x n) = alpha op(A) op(B) + beta C, with op = transpose if requested; inner dimension k. C is not read if beta =
/// 0. Real is double or float.
template <class Real>
void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, Real alpha, const Real* a, int lda, const Real* b,
          int ldb, Real beta, Real* c, int ldc);

extern template void gemm<double>(bool, bool, int, int, int, double, const double*, int, const double*, int, double,
                                  double*, int);
extern template void gemm<float>(bool, bool, int, int, int, float, const float*, int, const float*, int, float, float*,
                                 int);

}  // namespace plaq::linalg
