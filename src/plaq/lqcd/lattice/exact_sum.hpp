// Exact sums of double precision numbers, rounded once at the end. So their bits do not depend on the order of the
// numbers: not on ranks, workers and layout. Limbs of 32 bits, from the smallest double to the largest (Kulisch's long
// accumulator).
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace plaq::lqcd {

/// Exact sum.
class exact_sum {
 public:
  /// Adds a number, up to 2^31 times between two calls of settle().
  void add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const int exponent = int(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff) [[unlikely]] {
      ++limbs_[infinite];
      return;
    }
    const std::uint64_t mantissa = (bits & 0xfffffffffffffu) | std::uint64_t(exponent != 0) << 52;
    const int position = exponent - (exponent != 0);  // of the last bit; position 0 is 2^-1074
    std::int64_t* at = limbs_.data() + position / 32;
    const int shift = position % 32;
    const std::uint64_t low = mantissa << shift, high = shift ? mantissa >> (64 - shift) : 0;
    const std::int64_t sign = -std::int64_t(bits >> 63);  // (n ^ sign) - sign is n or -n
    at[0] += (std::int64_t(low & 0xffffffffu) ^ sign) - sign;
    at[1] += (std::int64_t(low >> 32) ^ sign) - sign;
    at[2] += (std::int64_t(high) ^ sign) - sign;
  }
  /// Adds another sum; both must be settled.
  void add(const exact_sum& other) {
    for (std::size_t i = 0; i < limbs_.size(); ++i) limbs_[i] += other.limbs_[i];
  }
  /// Carries: every limb but the last then has 32 bits, so that limbs of 2^31 sums can be added.
  void settle() {
    for (int i = 0; i + 1 < infinite; ++i) {
      const std::int64_t carry = limbs_[i] >> 32;
      limbs_[i] -= carry * (std::int64_t(1) << 32);
      limbs_[i + 1] += carry;
    }
  }
  /// Sum, rounded to nearest; NaN if a term was infinite or NaN.
  double value() const {
    if (limbs_[infinite]) return std::numeric_limits<double>::quiet_NaN();
    exact_sum magnitude = *this;
    magnitude.settle();
    const bool negative = magnitude.limbs_[infinite - 1] < 0;
    if (negative) {
      for (auto& limb : magnitude.limbs_) limb = -limb;
      magnitude.settle();
    }
    int top = infinite - 1;
    while (top > 0 && magnitude.limbs_[top] == 0) --top;
    __extension__ unsigned __int128 digits = 0;
    const int lowest = top < 3 ? 0 : top - 3;
    for (int i = top; i >= lowest; --i) digits = digits << 32 | std::uint64_t(magnitude.limbs_[i]);
    // Bits below the last of four limbs decide ties only.
    for (int i = 0; i < lowest; ++i) digits |= magnitude.limbs_[i] != 0;
    const double size = std::ldexp(double(digits), 32 * lowest - 1074);
    return negative ? -size : size;
  }
  /// Limbs, for a sum over ranks.
  std::span<std::int64_t> limbs() { return limbs_; }

 private:
  static constexpr int infinite = 68;  // the largest number ends in limb 65; above it is room for carries
  std::array<std::int64_t, infinite + 1> limbs_{};
};

}  // namespace plaq::lqcd
