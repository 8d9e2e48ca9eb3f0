#include "plaq/collection/runtime/partial_results.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace plaq::elements {

namespace {

/// Whether two parts are the halves of a node of the tree, the right one maybe cut off at the end.
bool are_halves(const partial_result& left, const partial_result& right, std::uint64_t total) {
  const auto half = left.end - left.begin;
  return left.end == right.begin && std::has_single_bit(half) && left.begin % (2 * half) == 0 &&
         right.end == std::min(left.begin + 2 * half, total);
}

}  // namespace

std::vector<partial_result> merge_parts(std::vector<partial_result> parts, std::uint64_t total,
                                        const combine_packed& combine) {
  std::ranges::sort(parts, {}, &partial_result::begin);
  std::vector<partial_result> done;
  for (auto& part : parts) {
    done.push_back(std::move(part));
    while (done.size() > 1 && are_halves(done[done.size() - 2], done.back(), total)) {
      auto& left = done[done.size() - 2];
      combine(left.bytes, done.back().bytes);
      left.end = done.back().end;
      done.pop_back();
    }
  }
  return done;
}

}  // namespace plaq::elements
