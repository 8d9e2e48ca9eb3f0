// Partial results of a reduction in a fixed order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plaq/collection/archive.hpp"

namespace plaq::elements {

/// Packed result of the values at places begin ... end - 1 of the order.
struct partial_result {
  std::uint64_t begin = 0, end = 0;
  std::vector<std::byte> bytes = {};
  void serialize(archive& ar) { ar(begin, end, bytes); }
};

/// Replaces a packed value by its combination with the one that follows it in the order.
using combine_packed = std::function<void(std::vector<std::byte>& left, std::span<const std::byte> right)>;

/// Combines what can be combined, and returns the rest in the order of places. A balanced binary tree over the places
/// 0 ... total - 1 says which two may be combined: the result of all is the same wherever and in whatever sequence
/// parts meet. A contiguous range leaves at most 2 log2(total) parts.
std::vector<partial_result> merge_parts(std::vector<partial_result> parts, std::uint64_t total,
                                        const combine_packed& combine);

}  // namespace plaq::elements
