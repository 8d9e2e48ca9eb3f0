#include "plaq/linalg/blas.hpp"

#include <cmath>
#include <vector>

#include "plaq/base/error.hpp"

// The wheel prefixes every symbol with scipy_.
extern "C" {
void scipy_dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void scipy_dgetri_(const int*, double*, const int*, const int*, double*, const int*, int*);
char* scipy_openblas_get_corename(void);
void scipy_openblas_set_num_threads(int);
}

namespace plaq::linalg {

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
