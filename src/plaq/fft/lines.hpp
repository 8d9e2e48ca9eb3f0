// Fourier transforms of lines, by Eigen's FFT (kissfft inside).
#pragma once
#include <complex>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace plaq::fft {

/// Complex number of all transforms.
using complex = std::complex<double>;

/// Transforms X_k = sum_j x_j exp(-2 pi i j k / n), and the inverse without the factor 1/n, of many lines of the same
/// length n, in place. Any n; a large prime factor p costs time n p. Calls may be made from many threads.
class lines {
 public:
  /// Prepares the transforms of lines with `length` numbers.
  explicit lines(std::size_t length);
  ~lines();
  lines(const lines&) = delete;

  /// Transforms all lines of `all` in place, one after the other in memory; backward() has the sign + in the exponent.
  ///
  /// @pre `all` holds whole lines
  void forward(std::span<complex> all) const;
  void backward(std::span<complex> all) const;
  /// Transforms real lines: k = 0 ... n/2. `from` has n numbers for each line, `to` n/2 + 1.
  ///
  /// @pre the spans hold whole lines of these lengths
  void forward(std::span<const double> from, std::span<complex> to) const;
  void backward(std::span<const complex> from, std::span<double> to) const;

 private:
  struct engine;
  /// Calls use(engine) with an engine that no other thread uses.
  template <class Use>
  void borrow(Use&& use) const;

  const std::size_t length_;
  mutable std::mutex guard_;
  mutable std::vector<std::unique_ptr<engine>> idle_;
};

}  // namespace plaq::fft
