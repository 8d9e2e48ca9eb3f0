// Products of spinors with a matrix at each site that is block diagonal in chirality.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <span>

#include "plaq/lqcd/lattice/field.hpp"

namespace plaq::lqcd {

/// Two Hermitian 6 x 6 blocks on each site, for the upper and the lower two spins, with rows i = 3 s + colour for the
/// first or second spin s of the two. Stored are the six numbers of the diagonal, and row by row the 15 complex ones
/// right of it. This halves the memory traffic, which limits the speed of products.
template <class T>
using chiral_blocks = field<T, 72>;

/// Matrix whose row i, column j is number 6 i + j.
template <class T>
using six_by_six = std::array<std::complex<T>, 36>;

/// Returns the block of the upper (c = 0) or lower (c = 1) spins: slow access.
template <class T>
six_by_six<T> get_block(const chiral_blocks<T>& B, site_layout::location at, int c) {
  six_by_six<T> a;
  for (int i = 0; i < 3; ++i) {
    const auto two = B.get(at, 18 * c + i);
    a[14 * i] = two.real(), a[14 * i + 7] = two.imag();
  }
  for (int i = 0, k = 18 * c + 3; i < 6; ++i)
    for (int j = i + 1; j < 6; ++j, ++k) a[6 * i + j] = B.get(at, k), a[6 * j + i] = std::conj(a[6 * i + j]);
  return a;
}

/// Sets a block from the diagonal of a Hermitian matrix and the numbers right of it.
template <class T>
void set_block(chiral_blocks<T>& B, site_layout::location at, int c, const six_by_six<T>& a) {
  for (int i = 0; i < 3; ++i) B.set(at, 18 * c + i, {a[14 * i].real(), a[14 * i + 7].real()});
  for (int i = 0, k = 18 * c + 3; i < 6; ++i)
    for (int j = i + 1; j < 6; ++j, ++k) B.set(at, k, a[6 * i + j]);
}

/// Factor B + i twist gamma_5; B points to its first group.
template <class T>
struct chiral_factor {
  const T* B;
  T twist;
};

/// Computes out = (or out +=, if `add`) the product of the factors with in, the first factor acting first, for groups
/// first ... end - 1 counted from the pointers. out may be in.
template <class T>
void multiply_chiral(int lanes, std::size_t first, std::size_t end, T* out, std::span<const chiral_factor<T>> factors,
                     const T* in, bool add);

}  // namespace plaq::lqcd
