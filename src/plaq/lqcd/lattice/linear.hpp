// Vector arithmetic over all ranks. Sums over sites are exact and rounded once (exact_sum.hpp), so their bits do not
// depend on ranks, workers or layout.
#pragma once
#include <complex>
#include <initializer_list>
#include <span>
#include <vector>

#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/field.hpp"

namespace plaq::lqcd {

/// Term of a linear combination: a field with its factor, a number, a + i b gamma_5, or gamma_5.
template <class T>
struct linear_term {
  const spinors<T>* x;
  std::complex<T> upper, lower;

  linear_term(std::complex<T> factor, const spinors<T>& x) : x(&x), upper(factor), lower(factor) {}
  static linear_term chiral(std::complex<T> a_plus_ib, const spinors<T>& x) {
    return {x, a_plus_ib, std::conj(a_plus_ib)};
  }
  static linear_term gamma5(const spinors<T>& x) { return {x, 1, -1}; }

 private:
  linear_term(const spinors<T>& x, std::complex<T> upper, std::complex<T> lower) : x(&x), upper(upper), lower(lower) {}
};

/// Computes out = sum of one to three terms, all on the same sites; out may be among them.
template <class T>
void combine(context& ctx, spinors<T>& out, std::initializer_list<linear_term<T>> terms);
/// Computes `combine` and returns |out|^2. Collective.
template <class T>
double combine_norm2(context& ctx, spinors<T>& out, std::initializer_list<linear_term<T>> terms);

/// Computes sum += a p, then p = r + b p, in one pass over the fields.
template <class T>
void advance(context& ctx, spinors<T>& sum, spinors<T>& p, const spinors<T>& r, T a, T b);

/// Sum with its direction, and steps in which both advance: sum += a p, then p = b r + c p.
template <class T>
struct advancing_sum {
  struct step {
    const spinors<T>* r;
    T a, b, c;
  };
  spinors<T>*sum, *p;
  std::vector<step> steps;
};
/// Advances sums, all on the same sites, by all of their steps in one pass over the fields. The bits are those of one
/// step after the other.
template <class T>
void advance(context& ctx, const std::vector<advancing_sum<T>>& sums);

/// Returns (x, y) = sum of conj(x) y. Collective, as is norm2.
template <class T>
std::complex<double> dot(context& ctx, const spinors<T>& x, const spinors<T>& y);
template <class T>
double norm2(context& ctx, const spinors<T>& x);

/// Returns (x_i, y) of several fields, with one sum over ranks.
template <class T>
std::vector<std::complex<double>> dots(context& ctx, const std::vector<const spinors<T>*>& x, const spinors<T>& y);
/// Adds the sum of a_i x_i to y, of as many of the fields as there are factors.
template <class T>
void add(context& ctx, spinors<T>& y, std::span<const std::complex<double>> a, std::span<const spinors<T>> x);

}  // namespace plaq::lqcd
