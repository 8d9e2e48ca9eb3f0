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
void scipy_dgemv_(const char*, const int*, const int*, const double*, const double*, const int*, const double*,
                  const int*, const double*, double*, const int*);
void scipy_sgemv_(const char*, const int*, const int*, const float*, const float*, const int*, const float*,
                  const int*, const float*, float*, const int*);
void scipy_dger_(const int*, const int*, const double*, const double*, const int*, const double*, const int*,
                 double*, const int*);
void scipy_sger_(const int*, const int*, const float*, const float*, const int*, const float*, const int*, float*,
                 const int*);
void scipy_dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void scipy_sgetrf_(const int*, const int*, float*, const int*, int*, int*);
void scipy_dgetri_(const int*, double*, const int*, const int*, double*, const int*, int*);
void scipy_sgetri_(const int*, float*, const int*, const int*, float*, const int*, int*);
char* scipy_openblas_get_corename(void);
void scipy_openblas_set_num_threads(int);
}

namespace plaq::linalg {

namespace {
constexpr int one = 1;
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

template <>
void gemv<double>(bool t, int m, int n, double alpha, const double* a, int lda, const double* x, double beta,
                  double* y) {
  scipy_dgemv_(flag(t), &m, &n, &alpha, a, &lda, x, &one, &beta, y, &one);
}

template <>
void gemv<float>(bool t, int m, int n, float alpha, const float* a, int lda, const float* x, float beta, float* y) {
  scipy_sgemv_(flag(t), &m, &n, &alpha, a, &lda, x, &one, &beta, y, &one);
}

template <>
void ger<double>(int m, int n, double alpha, const double* x, const double* y, double* a, int lda) {
  scipy_dger_(&m, &n, &alpha, x, &one, y, &one, a, &lda);
}

template <>
void ger<float>(int m, int n, float alpha, const float* x, const float* y, float* a, int lda) {
  scipy_sger_(&m, &n, &alpha, x, &one, y, &one, a, &lda);
}

template <class Real>
log_det invert(int n, Real* a, int lda) {
  if (n == 0) return {1., 0.};
  std::vector<int> pivot(n);
  int info = 0;
  if constexpr (sizeof(Real) == 8)
    scipy_dgetrf_(&n, &n, a, &lda, pivot.data(), &info);
  else
    scipy_sgetrf_(&n, &n, a, &lda, pivot.data(), &info);
  check(info >= 0, "getrf refused an argument");
  if (info > 0) throw runtime_failure("a matrix to be inverted is singular");
  log_det det{1., 0.};
  for (int i = 0; i < n; ++i) {
    const double d = a[i + std::size_t(i) * lda];
    if ((d < 0) != (pivot[i] != i + 1)) det.sign = -det.sign;
    det.log += std::log(std::abs(d));
  }
  const int size = 64 * n;
  std::vector<Real> work(size);
  if constexpr (sizeof(Real) == 8)
    scipy_dgetri_(&n, a, &lda, pivot.data(), work.data(), &size, &info);
  else
    scipy_sgetri_(&n, a, &lda, pivot.data(), work.data(), &size, &info);
  check(info == 0, "getri failed");
  return det;
}
template log_det invert<double>(int, double*, int);
template log_det invert<float>(int, float*, int);

std::string blas_core() { return scipy_openblas_get_corename(); }

void use_one_blas_thread() { scipy_openblas_set_num_threads(1); }

}  // namespace plaq::linalg
