#include "plaq/fft/line_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

// pocketfft asks for sizes that are no multiple of the alignment. C11 requires one, and sanitizers do.
namespace pocketfft::detail {
inline void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
}  // namespace pocketfft::detail
#define POCKETFFT_NO_MULTITHREADING
#define POCKETFFT_CACHE_SIZE 32  // lengths whose tables are kept
#if __has_include(<pocketfft_hdronly.h>)
#include <pocketfft_hdronly.h>
#else
#include <pocketfft.hpp>
#endif

#include "plaq/linalg/simd.hpp"
#include "plaq/linalg/transpose.hpp"

// A line in each lane of the registers. Incomplete groups of lines are done in the same way, with lanes that nobody
// reads, so that a line has the same bits alone and among others.
namespace plaq::fft::kernels {

namespace {

constexpr std::size_t width = linalg::native_lanes<double>;
using pack = linalg::simd<double, int(width)>;
using number = pocketfft::detail::cmplx<pack>;  // real parts, then imaginary parts
using complex = std::complex<double>;

constexpr std::size_t cached =
    128 * 1024;  // bytes of lines that are transformed together, of a cache of 512 KiB or more

template <std::size_t... I>
PLAQ_KERNEL number deinterleave(pack low, pack high, std::index_sequence<I...>) {
  return {__builtin_shufflevector(low, high, (2 * I)...), __builtin_shufflevector(low, high, (2 * I + 1)...)};
}
template <std::size_t... I>
PLAQ_KERNEL pack interleave_low(const number& v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v.r, v.i, (I / 2 + I % 2 * width)...);
}
template <std::size_t... I>
PLAQ_KERNEL pack interleave_high(const number& v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v.r, v.i, (width / 2 + I / 2 + I % 2 * width)...);
}
constexpr auto all_lanes = std::make_index_sequence<width>{};

/// Reads a point of each of `width` lines that are neighbours.
PLAQ_KERNEL number load_point(const complex* from) {
  const auto* numbers = reinterpret_cast<const double*>(from);
  return deinterleave(linalg::load<pack>(numbers), linalg::load<pack>(numbers + width), all_lanes);
}
PLAQ_KERNEL void store_point(complex* to, const number& v) {
  auto* numbers = reinterpret_cast<double*>(to);
  linalg::store(numbers, interleave_low(v, all_lanes));
  linalg::store(numbers + width, interleave_high(v, all_lanes));
}

/// Number of points of a line in a piece.
std::size_t points_in(const line_shape& of, std::size_t size) { return size / (of.outer * of.stride); }

/// Reads `count` neighbouring lines, from number `first` of the lines that are interleaved in row `row`.
void gather(const line_shape& of, constant_pieces from, std::size_t row, std::size_t first, std::size_t count,
            number* to) {
  for (const auto& piece : from) {
    const std::size_t points = points_in(of, piece.size());
    const complex* at = piece.data() + row * points * of.stride + first;
    if (count == width) {
      for (std::size_t i = 0; i < points; ++i, at += of.stride) *to++ = load_point(at);
    } else {
      for (std::size_t i = 0; i < points; ++i, at += of.stride) {
        std::array<complex, width> some{};
        std::copy_n(at, count, some.begin());
        *to++ = load_point(some.data());
      }
    }
  }
}
void scatter(const line_shape& of, pieces to, std::size_t row, std::size_t first, std::size_t count,
             const number* from) {
  for (const auto& piece : to) {
    const std::size_t points = points_in(of, piece.size());
    complex* at = piece.data() + row * points * of.stride + first;
    if (count == width) {
      for (std::size_t i = 0; i < points; ++i, at += of.stride) store_point(at, *from++);
    } else {
      for (std::size_t i = 0; i < points; ++i, at += of.stride) {
        std::array<complex, width> some;
        store_point(some.data(), *from++);
        std::copy_n(some.begin(), count, at);
      }
    }
  }
}

/// Reads `width` rows of `length` numbers from number `row` on, a row in each lane; the last one again where there are
/// fewer.
void gather_rows(const double* from, std::size_t length, std::size_t row, std::size_t rows, pack* to) {
  std::array<const double*, width> at;
  for (std::size_t l = 0; l < width; ++l) at[l] = from + std::min(row + l, rows - 1) * length;
  std::size_t i = 0;
  for (; i + width <= length; i += width) {
    linalg::square_tile<double> tile;
#pragma GCC unroll 16
    for (std::size_t l = 0; l < width; ++l) tile[l] = linalg::load<pack>(at[l] + i);
    linalg::transpose<double>(tile);
#pragma GCC unroll 16
    for (std::size_t l = 0; l < width; ++l) to[i + l] = tile[l];
  }
  for (; i < length; ++i)
    for (std::size_t l = 0; l < width; ++l) to[i][l] = at[l][i];
}
void scatter_rows(double* to, std::size_t length, std::size_t row, std::size_t rows, const pack* from) {
  std::array<double*, width> at;
  for (std::size_t l = 0; l < width; ++l) at[l] = to + std::min(row + l, rows - 1) * length;
  std::size_t i = 0;
  for (; i + width <= length; i += width) {
    linalg::square_tile<double> tile;
#pragma GCC unroll 16
    for (std::size_t l = 0; l < width; ++l) tile[l] = from[i + l];
    linalg::transpose<double>(tile);
#pragma GCC unroll 16
    for (std::size_t l = 0; l < width; ++l) linalg::store(at[l] + i, tile[l]);
  }
  for (; i < length; ++i)
    for (std::size_t l = 0; l < width; ++l) at[l][i] = from[i][l];
}

// The same for complex rows in pieces: a number has two packs.
void gather_rows(const line_shape& of, constant_pieces from, std::size_t row, pack* to) {
  for (const auto& piece : from) {
    const std::size_t numbers = 2 * points_in(of, piece.size());
    gather_rows(reinterpret_cast<const double*>(piece.data()), numbers, row, of.outer, to);
    to += numbers;
  }
}
void scatter_rows(const line_shape& of, pieces to, std::size_t row, const pack* from) {
  for (const auto& piece : to) {
    const std::size_t numbers = 2 * points_in(of, piece.size());
    scatter_rows(reinterpret_cast<double*>(piece.data()), numbers, row, of.outer, from);
    from += numbers;
  }
}

using pocketfft::detail::arr;
using pocketfft::detail::get_plan;
using complex_plan = pocketfft::detail::pocketfft_c<double>;
using real_plan = pocketfft::detail::pocketfft_r<double>;

}  // namespace

void transform(const line_shape& of, constant_pieces from, pieces to, bool forward, double factor) {
  const auto plan = get_plan<complex_plan>(of.length);
  if (of.stride == 1) {
    arr<number> room(of.length);
    for (std::size_t row = 0; row < of.outer; row += width) {
      gather_rows(of, from, row, reinterpret_cast<pack*>(room.data()));
      plan->exec(room.data(), factor, forward);
      scatter_rows(of, to, row, reinterpret_cast<const pack*>(room.data()));
    }
    return;
  }
  // Several groups of lines at once: a visit to a page of memory then reads or writes more of it.
  const std::size_t together = std::clamp<std::size_t>(cached / (of.length * sizeof(number)), 1, 4);
  arr<number> room(together * of.length);
  for (std::size_t row = 0; row < of.outer; ++row)
    for (std::size_t first = 0; first < of.stride;) {
      std::size_t end = first, groups = 0;
      for (; groups < together && end < of.stride; end += width, ++groups)
        gather(of, from, row, end, std::min(width, of.stride - end), room.data() + groups * of.length);
      for (std::size_t g = 0; g < groups; ++g) plan->exec(room.data() + g * of.length, factor, forward);
      for (std::size_t g = 0; g < groups; ++g, first += width)
        scatter(of, to, row, first, std::min(width, of.stride - first), room.data() + g * of.length);
    }
}

// The plan has the parts c_0, c_1 ... of k = 0, 1, 1, 2, 2 ...; the imaginary part of k = 0 is put between the first
// two.

void transform_real(const line_shape& of, const double* from, pieces to) {
  const auto plan = get_plan<real_plan>(of.length);
  arr<pack> room(of.length + 2);
  for (std::size_t row = 0; row < of.outer; row += width) {
    gather_rows(from, of.length, row, of.outer, room.data() + 1);
    plan->exec(room.data() + 1, 1.0, true);
    room[0] = room[1];
    room[1] = pack{};
    room[of.length + 1] = pack{};  // of k = length / 2, if that is whole
    scatter_rows({of.outer, of.length / 2 + 1, 1}, to, row, room.data());
  }
}

void transform_to_real(const line_shape& of, constant_pieces from, double* to, double factor) {
  const auto plan = get_plan<real_plan>(of.length);
  arr<pack> room(of.length + 2);
  for (std::size_t row = 0; row < of.outer; row += width) {
    gather_rows({of.outer, of.length / 2 + 1, 1}, from, row, room.data());
    room[1] = room[0];
    plan->exec(room.data() + 1, factor, false);
    scatter_rows(to, of.length, row, of.outer, room.data() + 1);
  }
}

}  // namespace plaq::fft::kernels
