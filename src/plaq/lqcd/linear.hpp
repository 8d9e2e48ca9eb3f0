// Vector arithmetic over all ranks. Sums over sites are exact until they are rounded (exact_sum.hpp), so the bits
// do not depend on ranks, workers or layout.
#pragma once
#include <complex>
#include <initializer_list>

#include "plaq/lqcd/engine.hpp"
#include "plaq/lqcd/field.hpp"

namespace plaq::lqcd {

/// A field and its factor: a number, a + i b gamma_5, or gamma_5.
template <class T>
struct weighted {
  const spinors<T>* x;
  std::complex<T> upper, lower;

  weighted(std::complex<T> factor, const spinors<T>& x) : x(&x), upper(factor), lower(factor) {}
  static weighted chiral(std::complex<T> a_plus_ib, const spinors<T>& x) {
    return {x, a_plus_ib, std::conj(a_plus_ib)};
  }
  static weighted gamma5(const spinors<T>& x) { return {x, 1, -1}; }

 private:
  weighted(const spinors<T>& x, std::complex<T> upper, std::complex<T> lower) : x(&x), upper(upper), lower(lower) {}
};

/// out = sum of one to three terms, all of the same sites; out may be among them.
template <class T>
void combine(engine& by, spinors<T>& out, std::initializer_list<weighted<T>> terms);
/// The same, and |out|^2. Collective.
template <class T>
double combine_norm2(engine& by, spinors<T>& out, std::initializer_list<weighted<T>> terms);

/// (x, y) = sum of conj(x) y. Collective, as is norm2.
template <class T>
std::complex<double> dot(engine& by, const spinors<T>& x, const spinors<T>& y);
template <class T>
double norm2(engine& by, const spinors<T>& x);

}  // namespace plaq::lqcd
