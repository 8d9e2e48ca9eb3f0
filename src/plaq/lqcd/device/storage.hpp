// Spinors and links in the memory of a device, in double, single or half precision.
//
// Numbers of 32 neighbouring sites are together, [pack][site]: neighbouring threads read neighbouring packs of 16 bytes
// (8 bytes of a link in half precision). Offsets of packs are constants.
#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>

#include "plaq/gpu/access.hpp"
#include "plaq/lqcd/lattice/fixed16.hpp"

namespace plaq::lqcd::device {

/// Number of sites whose numbers are together.
inline constexpr int together = 32;

/// Number type of arithmetic with storage type S: double, float, or fixed16.
template <class S>
using number_of = std::conditional_t<std::same_as<S, double>, double, float>;
/// Whether stored numbers are integers in units of 1 / fixed16_one.
template <class S>
inline constexpr bool is_fixed = std::same_as<S, fixed16>;

template <class T>
struct complex_number {
  T re, im;
};

/// Numbers of one access.
template <class S, int N>
struct alignas(N * sizeof(S)) pack {
  S at[N];
};

/// Spinors of 32 sites: number 2 (3 s + c) is the real part of spin s, colour c. In half precision they are in units of
/// a number of each site.
template <class S>
struct spinor_block {
  static constexpr int width = 16 / sizeof(S);
  pack<S, width> at[24 / width][together];
};
template <>
struct spinor_block<fixed16> {
  static constexpr int width = 8;
  pack<fixed16, width> at[24 / width][together];
  float unit[together];
};

/// First two rows of the links of 32 sites, for each direction ahead.
template <class S>
struct link_block {
  static constexpr int width = sizeof(S) == 8 ? 2 : 4;
  pack<S, width> at[4][12 / width][together];
};

/// Number of blocks for so many sites.
PLAQ_ANYWHERE constexpr int blocks_for(int sites) { return (sites + together - 1) / together; }

PLAQ_ANYWHERE inline fixed16 round_to_fixed16(float x) { return fixed16(int(std::rint(x))); }

/// Reads a spinor: 24 numbers, in units of the result.
template <class S, class T>
PLAQ_ANYWHERE T read_spinor(const spinor_block<S>* from, int site, complex_number<T> (&psi)[4][3], bool shared) {
  const spinor_block<S>& block = from[site / together];
  const int lane = site % together;
  T numbers[24];
  for (int i = 0; i < 24; i += block.width) {
    const auto* const place = &block.at[i / block.width][lane];
    const auto p = shared ? gpu::read_shared(place) : gpu::read(place);
    for (int j = 0; j < block.width; ++j) numbers[i + j] = T(p.at[j]);
  }
  for (int s = 0; s < 4; ++s)
    for (int c = 0; c < 3; ++c) psi[s][c] = {numbers[2 * (3 * s + c)], numbers[2 * (3 * s + c) + 1]};
  if constexpr (is_fixed<S>)
    return block.unit[lane];
  else
    return 1;
}

/// Reads a spinor.
template <class S, class T>
PLAQ_ANYWHERE void read_spinor(const spinor_block<S>* from, int site, complex_number<T> (&psi)[4][3]) {
  const T unit = read_spinor(from, site, psi, false);
  if constexpr (is_fixed<S>)
    for (auto& spin : psi)
      for (auto& z : spin) z = {z.re * unit, z.im * unit};
}

template <class S, class T>
PLAQ_ANYWHERE void write_spinor(spinor_block<S>* to, int site, const complex_number<T> (&psi)[4][3]) {
  spinor_block<S>& block = to[site / together];
  const int lane = site % together;
  T factor = 1;
  if constexpr (is_fixed<S>) {
    float largest = 0;
    for (const auto& spin : psi)
      for (const auto& z : spin) largest = std::fmax(largest, std::fmax(std::fabs(z.re), std::fabs(z.im)));
    const bool zero = largest < 1e-30f;
    factor = zero ? 0 : fixed16_one / largest;
    block.unit[lane] = zero ? 0 : largest / fixed16_one;
  }
  S numbers[24];
  for (int s = 0; s < 4; ++s)
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 2; ++i) {
        const T x = i == 0 ? psi[s][c].re : psi[s][c].im;
        if constexpr (is_fixed<S>)
          numbers[2 * (3 * s + c) + i] = round_to_fixed16(x * factor);
        else
          numbers[2 * (3 * s + c) + i] = S(x);
      }
  for (int i = 0; i < 24; i += block.width) {
    pack<S, spinor_block<S>::width> p;
    for (int j = 0; j < block.width; ++j) p.at[j] = numbers[i + j];
    gpu::write(&block.at[i / block.width][lane], p);
  }
}

/// Returns the sum of squares of a spinor.
template <class T>
PLAQ_ANYWHERE double norm2_of(const complex_number<T> (&psi)[4][3]) {
  double sum = 0;
  for (const auto& spin : psi)
    for (const auto& z : spin) sum = std::fma(double(z.re), double(z.re), std::fma(double(z.im), double(z.im), sum));
  return sum;
}

/// Reads two rows of a link; in half precision in units of 1 / fixed16_one.
template <class S, class T>
PLAQ_ANYWHERE void read_rows(const link_block<S>* from, int site, int mu, complex_number<T> (&u)[3][3]) {
  const link_block<S>& block = from[site / together];
  T numbers[12];
  for (int i = 0; i < 12; i += block.width) {
    const auto p = gpu::read_once(&block.at[mu][i / block.width][site % together]);
    for (int j = 0; j < block.width; ++j) numbers[i + j] = T(p.at[j]);
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) u[i][j] = {numbers[2 * (3 * i + j)], numbers[2 * (3 * i + j) + 1]};
}

}  // namespace plaq::lqcd::device
