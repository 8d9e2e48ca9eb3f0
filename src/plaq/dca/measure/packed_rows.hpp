// Some rows of some blocks of G(k, k'), one after the other in a buffer.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "plaq/dca/measure/two_frequency.hpp"

namespace plaq::dca {

/// The rows of every block [K][K'] that somebody reads, from the lowest to the highest: n = first ... last - 1.
class needed_rows {
 public:
  struct range {
    int first = 0, last = 0;
    int size() const { return last - first; }
  };
  explicit needed_rows(int sites) : of_(std::size_t(sites) * std::size_t(sites)) {}

  void add(std::size_t block, int row);
  std::span<const range> of() const { return of_; }

 private:
  std::vector<range> of_;
};

/// How these rows lie in a buffer, in the order of blocks.
class packed_rows {
 public:
  packed_rows(const needed_rows& rows, int frequencies);

  /// Numbers of one plane.
  std::size_t size() const { return size_; }
  /// Copies them from a whole plane to `to`; returns the end.
  float* pack(std::span<const float> plane, float* to) const;
  /// One spin's function whose parts were packed to `re` and `im`. This object has to outlive it.
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
