// Sums of spinors, and scalar products, on a rank's groups.
#pragma once
#include <complex>
#include <cstddef>
#include <span>

#include "plaq/lqcd/lattice/exact_sum.hpp"

namespace plaq::lqcd {

/// Term of a linear combination, with factors for the upper two spins and the lower two.
template <class T>
struct term {
  const T* x;
  std::complex<T> upper, lower;
};

/// Computes out = sum of one, two or three terms for groups first ... end - 1 of spinors. Adds |out|^2 to `norm` unless
/// that is null. out may be one of the terms.
template <class T>
void combine(int lanes, std::size_t first, std::size_t end, T* out, std::span<const term<T>> terms, exact_sum* norm);

/// Step of a sum and its direction: sum += a p, then p = b r + c p.
template <class T>
struct step {
  const T* r;
  T a, b, c;
};

/// Computes steps, one after the other, in one pass for up to four of them, for groups first ... end - 1.
template <class T>
void advance(int lanes, std::size_t first, std::size_t end, T* sum, T* p, std::span<const step<T>> steps);

/// Adds the sum of conj(x) y to re + i im.
template <class T>
void add_scalar_product(int lanes, std::size_t first, std::size_t end, const T* x, const T* y, exact_sum& re,
                        exact_sum& im);

/// Adds |x|^2.
template <class T>
void add_norm2(int lanes, std::size_t first, std::size_t end, const T* x, exact_sum& norm);

}  // namespace plaq::lqcd
