// Arrays of plaq::dca between C++ and Python.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "plaq/dca/measure/bin_layout.hpp"

namespace plaq::bindings {

namespace nb = nanobind;

template <class T>
using flat = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> copied(const flat<T>& a) {
  return {a.data(), a.data() + a.size()};
}

/// Returns {name: BinArray} of a layout.
inline nb::dict layout_to_dict(const dca::bin_layout& layout) {
  nb::dict out;
  for (const dca::bin_array& a : layout) out[a.name.c_str()] = a;
  return out;
}

}  // namespace plaq::bindings
