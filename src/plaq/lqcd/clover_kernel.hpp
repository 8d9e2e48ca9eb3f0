// Products of spinors with a matrix of their own at each site, which leaves chiralities apart.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <span>

#include "plaq/lqcd/field.hpp"

namespace plaq::lqcd {

/// Two Hermitian 6 x 6 matrices on each site, of the upper and the lower two spins, in rows i = 3 s + colour with the
/// first or second spin s of the two. Of each the six numbers of the diagonal, and row by row the 15 complex ones
/// right of it: half of what all would be, and reading them is what products take their time for.
template <class T>
using chiral_blocks = field<T, 72>;

/// Row i, column j is number 6 i + j.
template <class T>
using six_by_six = std::array<std::complex<T>, 36>;

/// The matrix of the upper (c = 0) or lower spins, for who is in no hurry.
template <class T>
six_by_six<T> get_block(const chiral_blocks<T>& B, layout::place at, int c) {
  six_by_six<T> a;
  for (int i = 0; i < 3; ++i) {
    const auto two = B.get(at, 18 * c + i);
    a[14 * i] = two.real(), a[14 * i + 7] = two.imag();
  }
  for (int i = 0, k = 18 * c + 3; i < 6; ++i)
    for (int j = i + 1; j < 6; ++j, ++k) a[6 * i + j] = B.get(at, k), a[6 * j + i] = std::conj(a[6 * i + j]);
  return a;
}

/// From the diagonal of a Hermitian matrix and what is right of it.
template <class T>
void set_block(chiral_blocks<T>& B, layout::place at, int c, const six_by_six<T>& a) {
  for (int i = 0; i < 3; ++i) B.set(at, 18 * c + i, {a[14 * i].real(), a[14 * i + 7].real()});
  for (int i = 0, k = 18 * c + 3; i < 6; ++i)
    for (int j = i + 1; j < 6; ++j, ++k) B.set(at, k, a[6 * i + j]);
}

/// B + i twist gamma_5, of blocks from the pointer on.
template <class T>
struct chiral_factor {
  const T* B;
  T twist;
};

/// out = the product of the factors, the first of which acts first, with in, or this added to out, for blocks first ...
/// end - 1 of what starts at the pointers. In place, if need be.
template <class T>
void multiply_blocks(int lanes, std::size_t first, std::size_t end, T* out, std::span<const chiral_factor<T>> factors,
                     const T* in, bool add);

}  // namespace plaq::lqcd
