// Ranges in parts of about equal size.
#pragma once
#include <cstddef>

namespace plaq {

/// Part `part` of `of` parts of n rows: rows n part / of, ..., n (part + 1) / of - 1.
struct portion {
  int part = 0, of = 1;
  std::size_t begin(std::size_t rows) const { return rows * std::size_t(part) / std::size_t(of); }
  std::size_t end(std::size_t rows) const { return rows * std::size_t(part + 1) / std::size_t(of); }
};

}  // namespace plaq
