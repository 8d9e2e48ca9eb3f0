// Partial results of a reduction in a fixed order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/homes.hpp"

namespace plaq::elements {

/// Packed result of all values at places `first` ... `last` of the order.
struct partial_result {
  place first = 0, last = 0;
  std::vector<std::byte> bytes = {};
  void serialize(archive& ar) { ar(first, last, bytes); }
};

/// Replaces a packed value by its combination with the one that follows it in the order.
using combine_packed = std::function<void(std::vector<std::byte>& left, std::span<const std::byte> right)>;

/// Combines what can be combined, and returns the rest in the order of places. Halves of halves of all 2^64 places say
/// which two may be combined, and places without a value are passed over: the result of all is the same wherever and in
/// whatever sequence parts meet. All values at the places `known` are in the parts.
std::vector<partial_result> merge_parts(std::vector<partial_result> parts, places known, const combine_packed& combine);

}  // namespace plaq::elements
