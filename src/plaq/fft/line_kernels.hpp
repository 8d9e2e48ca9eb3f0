// Transforms of many lines, built for every instruction set.
#pragma once
#include <complex>
#include <cstddef>
#include <span>

namespace plaq::fft::kernels {

/// Lines of `length` points in an array `[outer][length][stride]`, so that points of a line are `stride` apart.
struct line_shape {
  std::size_t outer, length, stride;
};

// Arrays are cut along their lines into pieces [outer][length of the piece][stride], one after the other.
using pieces = std::span<const std::span<std::complex<double>>>;
using constant_pieces = std::span<const std::span<const std::complex<double>>>;

/// Transforms lines, exponent - if `forward`, + otherwise, and multiplies by `factor`. `to` may be `from`.
void transform(const line_shape& of, constant_pieces from, pieces to, bool forward, double factor);
/// Transforms real lines in order to k = 0 ... length / 2. @pre The stride is 1. The end of `from` may be the end of
/// the one piece that is `to`.
void transform_real(const line_shape& of, const double* from, pieces to);
/// Computes the inverse of that, times `factor`. The beginning of `to` may be that of the one piece that is `from`.
void transform_to_real(const line_shape& of, constant_pieces from, double* to, double factor);

}  // namespace plaq::fft::kernels
