// Selected rows of blocks of G(k, k'), packed into a buffer.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "plaq/dca/measure/two_frequency.hpp"

namespace plaq::dca {

/// Range of rows of every block [K][K'] that products depend on: n = first ... last - 1.
class needed_rows {
 public:
  struct range {
    int first = 0, last = 0;
    int size() const { return last - first; }
  };
  explicit needed_rows(int sites) : ranges_(std::size_t(sites) * std::size_t(sites)) {}

  /// Extends the range of a block to this row.
  void add(std::size_t block, int row);
  std::span<const range> ranges() const { return ranges_; }

 private:
  std::vector<range> ranges_;
};

/// Layout of these rows in a buffer, in the order of blocks.
class packed_rows {
 public:
  packed_rows(const needed_rows& rows, int frequencies);

  /// Number of floats of one packed plane.
  std::size_t size() const { return size_; }
  /// Copies the rows of a whole plane to `to`; returns the end.
  float* pack(std::span<const float> plane, float* to) const;
  /// View of one spin's function whose parts were packed to `re` and `im`; valid as long as this object.
  two_frequency::view view(const float* re, const float* im) const { return {re, im, starts_}; }

 private:
  struct run {
    std::size_t from, size;
  };
  std::vector<run> runs_;  // in a whole plane
  std::vector<std::ptrdiff_t> starts_;
  std::size_t size_ = 0;
};

}  // namespace plaq::dca
