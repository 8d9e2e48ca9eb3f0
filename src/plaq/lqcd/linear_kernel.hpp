// Sums of spinors, and scalar products, on a rank's blocks.
#pragma once
#include <complex>
#include <cstddef>
#include <span>

#include "plaq/lqcd/exact_sum.hpp"

namespace plaq::lqcd {

/// One term of a linear combination: factors for the upper two spins and the lower two.
template <class T>
struct term {
  const T* x;
  std::complex<T> upper, lower;
};

/// out = sum of one, two or three terms, for blocks first ... end - 1 of spinors with so many lanes; `norm` gets
/// |out|^2 where there is one. out may be one of the terms.
template <class T>
void combine(int lanes, std::size_t first, std::size_t end, T* out, std::span<const term<T>> terms, exact_sum* norm);

/// re + i im = sum of conj(x) y.
template <class T>
void multiply(int lanes, std::size_t first, std::size_t end, const T* x, const T* y, exact_sum& re, exact_sum& im);

/// |x|^2
template <class T>
void square(int lanes, std::size_t first, std::size_t end, const T* x, exact_sum& norm);

}  // namespace plaq::lqcd
