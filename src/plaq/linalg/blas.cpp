#include "plaq/linalg/blas.hpp"

#include <cmath>
#include <vector>

#include "plaq/base/error.hpp"

// The wheel prefixes every symbol with scipy_.
extern "C" {
void scipy_dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                  const int*, const double*, const int*, const double*, double*, const int*);
void scipy_sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                  const int*, const float*, const int*, const float*, float*, const int*);
void scipy_dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void scipy_dgetri_(const int*, double*, const int*, const int*, double*, const int*, int*);
char* scipy_openblas_get_corename(void);
void scipy_openblas_set_num_threads(int);
}

namespace plaq::linalg {

namespace {
const char* flag(bool transpose) { return transpose ? "T" : "N"; }
}  // namespace

template <>
void gemm<double>(bool ta, bool tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                  int ldb, double beta, double* c, int ldc) {
  if (m == 0 || n == 0) return;
  scipy_dgemm_(flag(ta), flag(tb), &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

template <>
void gemm<float>(bool ta, bool tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                 float beta, float* c, int ldc) {
  if (m == 0 || n == 0) return;
  scipy_sgemm_(flag(ta), flag(tb), &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

log_det invert(int n, double* a, int lda) {
  if (n == 0) return {1., 0.};
  std::vector<int> pivot(n);
  int info = 0;
  scipy_dgetrf_(&n, &n, a, &lda, pivot.data(), &info);
  check(info >= 0, "getrf refused an argument");
  if (info > 0) throw runtime_failure("a matrix to be inverted is singular");
  log_det det{1., 0.};
  for (int i = 0; i < n; ++i) {
    const double d = a[i + std::size_t(i) * lda];
    if ((d < 0) != (pivot[i] != i + 1)) det.sign = -det.sign;
    det.log += std::log(std::abs(d));
  }
  const int size = 64 * n;
  std::vector<double> work(size);
  scipy_dgetri_(&n, a, &lda, pivot.data(), work.data(), &size, &info);
  check(info == 0, "getri failed");
  return det;
}

std::string blas_core() { return scipy_openblas_get_corename(); }

void use_one_blas_thread() { scipy_openblas_set_num_threads(1); }

}  // namespace plaq::linalg
