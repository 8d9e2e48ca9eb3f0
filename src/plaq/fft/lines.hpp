// Fourier transforms of lines.
#pragma once
#include <complex>
#include <cstddef>
#include <span>

namespace plaq::fft {

/// Complex number of all transforms.
using complex = std::complex<double>;

/// Transforms X_k = sum_j x_j exp(-2 pi i j k / n), and the inverse without the factor 1/n, of many lines of the same
/// length n, in time n log n for any n. A line has the same bits alone and among others. Calls may be made from many
/// threads.
class lines {
 public:
  /// Array `[outer][n][stride]` cut along its lines: pieces `[outer][points][stride]` in the order of the points.
  using pieces = std::span<const std::span<complex>>;
  using constant_pieces = std::span<const std::span<const complex>>;

  /// @pre length > 0
  explicit lines(std::size_t length);

  /// Transforms lines in place; backward() has the sign + in the exponent, and multiplies by `factor`. Points of a line
  /// are `stride` numbers apart, and as many lines are interleaved: with 1 the lines follow each other.
  ///
  /// @pre `all` holds whole lines
  void forward(std::span<complex> all, std::size_t stride = 1) const;
  void backward(std::span<complex> all, std::size_t stride = 1, double factor = 1) const;
  /// Transforms real lines that follow each other: k = 0 ... n/2. `from` has n numbers for each line, `to` n/2 + 1.
  ///
  /// @pre the spans hold whole lines of these lengths
  void forward(std::span<const double> from, std::span<complex> to) const;
  void backward(std::span<const complex> from, std::span<double> to, double factor = 1) const;

  /// Transforms lines from pieces of an array to pieces of another, or of the same, without a copy between.
  ///
  /// @pre both hold the same number of whole lines
  void forward(constant_pieces from, pieces to, std::size_t stride) const { transform(from, to, stride, true, 1); }
  void backward(constant_pieces from, pieces to, std::size_t stride, double factor = 1) const {
    transform(from, to, stride, false, factor);
  }
  /// Transforms real lines to pieces, and back. In one piece both arrays may have the same memory: real lines at its
  /// end before, at its beginning after.
  void forward(std::span<const double> from, pieces to) const;
  void backward(constant_pieces from, std::span<double> to, double factor = 1) const;

 private:
  void transform(constant_pieces from, pieces to, std::size_t stride, bool forward, double factor) const;

  std::size_t length_;
};

}  // namespace plaq::fft
