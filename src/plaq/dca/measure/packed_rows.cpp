#include "plaq/dca/measure/packed_rows.hpp"

#include <algorithm>

namespace plaq::dca {

void needed_rows::add(std::size_t block, int row) {
  range& r = ranges_[block];
  if (r.size() == 0) r = {row, row};
  r = {std::min(r.first, row), std::max(r.last, row + 1)};
}

packed_rows::packed_rows(const needed_rows& rows, int frequencies) {
  const std::size_t length = std::size_t(2) * std::size_t(frequencies);
  std::size_t block_begins = 0;
  for (const auto& r : rows.ranges()) {
    starts_.push_back(std::ptrdiff_t(size_) - std::ptrdiff_t(length) * r.first);
    if (r.size() > 0) {
      const run next{block_begins + length * std::size_t(r.first), length * std::size_t(r.size())};
      if (!runs_.empty() && runs_.back().from + runs_.back().size == next.from)
        runs_.back().size += next.size;
      else
        runs_.push_back(next);
      size_ += next.size;
    }
    block_begins += length * std::size_t(frequencies);
  }
}

float* packed_rows::pack(std::span<const float> plane, float* to) const {
  for (const run& r : runs_) to = std::ranges::copy(plane.subspan(r.from, r.size), to).out;
  return to;
}

}  // namespace plaq::dca
