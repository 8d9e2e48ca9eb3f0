// Arrays of plaq::pic between C++ and Python.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::bindings {

namespace nb = nanobind;

using free_gil = nb::call_guard<nb::gil_scoped_release>;
using array_in = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
template <class V>
using array_out = nb::ndarray<nb::numpy, V>;

inline std::span<const double> view(const array_in& a) { return {a.data(), a.size()}; }
inline std::vector<double> to_vector(const array_in& a) { return {a.data(), a.data() + a.size()}; }

/// Returns a vector as an array; with `x_fastest` its first index runs fastest.
template <class V>
array_out<V> to_array(std::vector<V> values, const std::vector<std::size_t>& shape, bool x_fastest = false) {
  auto* all = new std::vector<V>(std::move(values));
  nb::capsule owner(all, [](void* p) noexcept { delete static_cast<std::vector<V>*>(p); });
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::size_t at = x_fastest ? d : shape.size() - 1 - d;
    strides[at] = step;
    step *= std::int64_t(shape[at]);
  }
  return array_out<V>(all->data(), shape.size(), shape.data(), owner, strides.data());
}

/// Returns an array [component, i, j, k] of Python as [component][k][j][i].
inline std::vector<double> to_x_fastest(const array_in& a, int dimensions, const plaq::pic::point& cells) {
  const std::size_t nx = std::size_t(cells[0]), ny = std::size_t(cells[1]), nz = std::size_t(cells[2]);
  bool fits = a.ndim() == std::size_t(dimensions) + 1 && a.shape(0) == 3;
  for (int d = 0; fits && d < dimensions; ++d) fits = a.shape(std::size_t(d) + 1) == std::size_t(cells[d]);
  if (!fits) throw plaq::input_error("an array of a field has the components first, then the cells");
  std::vector<double> out(a.size());
  const double* from = a.data();
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < nx; ++i)
      for (std::size_t j = 0; j < ny; ++j)
        for (std::size_t k = 0; k < nz; ++k) out[((c * nz + k) * ny + j) * nx + i] = *from++;
  return out;
}

template <class V>
std::array<V, 3> three(const std::vector<V>& from, V rest, const char* key) {
  if (from.empty() || from.size() > 3) throw plaq::input_error(std::string(key) + " has from 1 to 3 entries");
  std::array<V, 3> out{rest, rest, rest};
  std::copy(from.begin(), from.end(), out.begin());
  return out;
}
template <class V>
std::vector<V> used_part(const std::array<V, 3>& of, int dimensions) {
  return {of.begin(), of.begin() + dimensions};
}

}  // namespace plaq::bindings
