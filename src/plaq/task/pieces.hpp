// Cut of a range into pieces that depend on its length alone, so that results do not depend on the workers.
#pragma once
#include <algorithm>
#include <cstddef>

#include "plaq/task/sharing.hpp"

namespace plaq::task::detail {

class pieces {
 public:
  /// Cuts n > 0 indices into at most 256 pieces of at least `least` each.
  explicit pieces(std::size_t n, std::size_t least = 1) : n_(n), count_(std::clamp<std::size_t>(n / least, 1, 256)) {}

  std::size_t count() const { return count_; }
  /// First index of piece p, and the end of the piece before: p n / count.
  std::size_t begin(std::size_t p) const { return n_ / count_ * p + n_ % count_ * p / count_; }

  /// Options of a loop over the pieces, from those of a loop over the indices.
  loop_options over(loop_options how) const {
    if (how.chunk > 0) how.chunk = std::max<std::size_t>(1, how.chunk / (n_ / count_));
    return how;
  }

 private:
  std::size_t n_, count_;
};

}  // namespace plaq::task::detail
