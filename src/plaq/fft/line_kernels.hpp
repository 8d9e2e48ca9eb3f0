// Transforms of many lines, built for every instruction set.
#pragma once
#include <complex>
#include <cstddef>

namespace plaq::fft::kernels {

/// Lines of `length` points in an array [outer][length][stride], so that points of a line are `stride` apart.
struct line_shape {
  std::size_t outer, length, stride;
};

/// Transforms in place, exponent - if `forward`, + otherwise, and multiplies by `factor`.
void transform(const line_shape& of, std::complex<double>* all, bool forward, double factor);
/// Transforms `count` real lines in order, to k = 0 ... length / 2.
void transform_real(std::size_t count, std::size_t length, const double* from, std::complex<double>* to);
/// The inverse of that, times `factor`.
void transform_to_real(std::size_t count, std::size_t length, const std::complex<double>* from, double* to,
                       double factor);

}  // namespace plaq::fft::kernels
