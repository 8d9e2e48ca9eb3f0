// Vectors on the coarse lattice of aggregates.
#pragma once
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "plaq/lqcd/lattice/context.hpp"

namespace plaq::lqcd {

/// Vector with a row of `size` complex numbers (multigrid_kernel.hpp) for each of a rank's aggregates, or for those of
/// one coarse parity.
struct coarse_vector {
  coarse_vector(std::int64_t count, int size) : size(size), count(count), numbers(2 * count * size) {}
  float* row(std::int64_t i) { return numbers.data() + 2 * i * size; }
  const float* row(std::int64_t i) const { return numbers.data() + 2 * i * size; }

  int size;
  std::int64_t count;
  std::vector<float> numbers;
};

/// Returns the scalar product, computed in single precision on each site and summed exactly. Collective.
std::complex<double> dot(context& ctx, const coarse_vector& x, const coarse_vector& y);
double norm2(context& ctx, const coarse_vector& x);
/// Returns (x_i, y) of several vectors, with one sum over ranks. Collective.
std::vector<std::complex<double>> dots(context& ctx, const std::vector<const coarse_vector*>& x,
                                       const coarse_vector& y);
/// Adds a x to y; adds the sum of a_i x_i to y, of as many of the vectors as there are factors.
void add(context& ctx, coarse_vector& y, std::complex<double> a, const coarse_vector& x);
void add(context& ctx, coarse_vector& y, std::span<const std::complex<double>> a, std::span<const coarse_vector> x);

}  // namespace plaq::lqcd
