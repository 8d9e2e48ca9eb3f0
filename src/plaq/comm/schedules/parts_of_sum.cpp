#include "plaq/comm/schedules/parts_of_sum.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace plaq::comm {

namespace {

/// Whether two neighbouring parts, each merged as far as possible, are halves of one block.
bool are_halves(bracketing how, const part_of_sum& left, const part_of_sum& right) {
  if (!how.fixed) return true;
  const auto half = left.end - left.begin;
  return std::has_single_bit(std::uint64_t(half)) && left.begin % (2 * half) == 0 &&
         right.end == std::min(left.begin + 2 * half, how.total);
}

}  // namespace

std::vector<part_of_sum> parts_of(bracketing how, std::int64_t begin, std::int64_t end) {
  std::vector<part_of_sum> parts;
  while (begin < end) {
    std::int64_t next = end;
    if (how.fixed && end < how.total) {
      // The largest block that begins here and is not cut off by the range's end.
      std::int64_t length = begin == 0 ? std::int64_t(std::bit_floor(std::uint64_t(end))) : begin & -begin;
      while (begin + length > end) length /= 2;
      next = begin + length;
    } else if (how.fixed && begin > 0) {
      next = std::min(end, begin + (begin & -begin));
    }
    parts.push_back({begin, next, {}, true});
    begin = next;
  }
  return parts;
}

std::vector<part_of_sum> merge(program& steps, bracketing how, std::vector<part_of_sum> parts, std::size_t size,
                               std::optional<location> target) {
  std::ranges::sort(parts, {}, &part_of_sum::begin);
  std::vector<part_of_sum> done;
  std::size_t merges_left = parts.size() - 1;
  for (const auto& part : parts) {
    done.push_back(part);
    while (done.size() > 1 && are_halves(how, done[done.size() - 2], done.back())) {
      const part_of_sum right = done.back();
      done.pop_back();
      auto& left = done.back();
      location to = left.writable ? left.at : right.at;
      if (!left.writable && !right.writable) to = steps.allocate(size);
      if (--merges_left == 0 && target) to = *target;
      steps.combine(to, left.at, right.at, size);
      left = {left.begin, right.end, to, true};
    }
  }
  if (done.size() == 1 && target && !(done[0].at == *target)) {
    steps.copy(*target, done[0].at, size);
    done[0].at = *target;
    done[0].writable = true;
  }
  return done;
}

}  // namespace plaq::comm
