// Inverse and determinant of a matrix, column-major.
#pragma once

namespace plaq::linalg {

/// Sign and log|.| of a determinant.
struct log_det {
  double sign;
  double log;
};

/// Replaces the n x n matrix A by its inverse. A singular one has sign 0 and the logarithm -infinity; its elements are
/// then unspecified.
log_det invert(int n, double* a, int lda);

}  // namespace plaq::linalg
