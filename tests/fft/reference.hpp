// Transforms by their definition.
#pragma once
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

#include "plaq/base/random.hpp"

namespace plaq::test {

using values = std::vector<std::complex<double>>;

inline double drawn_number(std::uint64_t index, unsigned purpose = 0) {
  return 2 * unit_interval(random_words({.seed = 11, .purpose = purpose}, index)[0]) - 1;
}

/// sum_j x_j exp(-+ 2 pi i j k / n) of a line with so many points between its points.
inline void transform_line(std::complex<double>* line, std::size_t n, std::size_t stride, double sign) {
  values out(n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j)
      out[k] += line[j * stride] * std::polar(1.0, sign * 2 * std::numbers::pi * double(j * k % n) / double(n));
  for (std::size_t k = 0; k < n; ++k) line[k * stride] = out[k];
}

/// Of a mesh, x fastest, in place.
inline void transform_mesh(values& mesh, std::array<int, 3> n, double sign = -1) {
  const auto [nx, ny, nz] = std::array{std::size_t(n[0]), std::size_t(n[1]), std::size_t(n[2])};
  for (std::size_t k = 0; k < ny * nz; ++k) transform_line(&mesh[k * nx], nx, 1, sign);
  for (std::size_t z = 0; z < nz; ++z)
    for (std::size_t x = 0; x < nx; ++x) transform_line(&mesh[x + z * nx * ny], ny, nx, sign);
  for (std::size_t k = 0; k < nx * ny; ++k) transform_line(&mesh[k], nz, nx * ny, sign);
}

inline double largest_difference(const values& a, const values& b) {
  double out = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) out = std::max(out, std::abs(a[i] - b[i]));
  return out;
}

}  // namespace plaq::test
