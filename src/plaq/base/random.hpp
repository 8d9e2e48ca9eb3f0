// Counter-based random numbers: a number is a pure function of (seed, stream, index), so a result does not depend on
// the thread that drew it, nor on interruptions of the run.
//
// Philox4x64-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11; from Random123.
#pragma once
#include <Random123/philox.h>

#include <array>
#include <cstdint>

#include "plaq/base/anywhere.hpp"

namespace plaq {

/// Name of one stream of random numbers. Two streams that differ in any member are independent.
struct stream_id {
  std::uint64_t seed = 0;
  std::uint32_t purpose = 0;  ///< use of the numbers; every application counts its own
  /// Four coordinates of the draw, such as species, patch, step and site: an application defines them, the same for all
  /// its streams. The last one has 64 bits for large numbers.
  std::uint32_t i = 0, j = 0, k = 0;
  std::uint64_t l = 0;
};

/// Four independent 64-bit words for `index` of a stream.
PLAQ_ANYWHERE inline std::array<std::uint64_t, 4> random_words(const stream_id& s, std::uint64_t index) {
  const r123::Philox4x64::ctr_type counter = {
      {index, s.l, std::uint64_t(s.j) << 32 | s.k, std::uint64_t(s.purpose) << 32 | s.i}};
  const r123::Philox4x64::key_type key = {{s.seed, 0x706c6171u}};
  const auto word = r123::Philox4x64()(counter, key);
  return {word[0], word[1], word[2], word[3]};
}

/// Uniform in [0, 1) with 53 random bits.
PLAQ_ANYWHERE inline double unit_interval(std::uint64_t word) { return double(word >> 11) * 0x1p-53; }

/// Uniform in {0, ..., n-1}; the bias is below n / 2^64.
PLAQ_ANYWHERE inline std::uint64_t below(std::uint64_t word, std::uint64_t n) {
  __extension__ using wide = unsigned __int128;
  return std::uint64_t((wide(word) * n) >> 64);
}

}  // namespace plaq
