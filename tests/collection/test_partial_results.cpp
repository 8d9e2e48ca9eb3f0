// Parts of a reduction, in whatever sequence they meet.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "plaq/collection/runtime/partial_results.hpp"

namespace plaq::elements {
namespace {

std::vector<std::byte> packed(const std::string& of) {
  std::vector<std::byte> out;
  for (const char c : of) out.push_back(std::byte(c));
  return out;
}
std::string words(std::span<const std::byte> of) {
  std::string out;
  for (const std::byte b : of) out.push_back(char(b));
  return out;
}
const combine_packed in_brackets = [](std::vector<std::byte>& left, std::span<const std::byte> right) {
  left = packed("(" + words(left) + words(right) + ")");
};
partial_result one(std::uint64_t at) { return {at, at + 1, packed(std::string(1, char('a' + at)))}; }

TEST(partial_results, have_the_brackets_of_a_balanced_tree) {
  const auto all = [](std::uint64_t n) {
    std::vector<partial_result> parts;
    for (std::uint64_t at = 0; at < n; ++at) parts.push_back(one(at));
    const auto out = merge_parts(parts, n, in_brackets);
    EXPECT_EQ(out.size(), 1u);
    return words(out[0].bytes);
  };
  EXPECT_EQ(all(1), "a");
  EXPECT_EQ(all(4), "((ab)(cd))");
  EXPECT_EQ(all(5), "(((ab)(cd))e)");
  EXPECT_EQ(all(7), "(((ab)(cd))((ef)g))");
}

TEST(partial_results, come_to_the_same_in_any_sequence) {
  std::mt19937 random(7);
  for (std::uint64_t n = 1; n < 26; ++n) {
    std::string first;
    for (int time = 0; time < 20; ++time) {
      std::vector<partial_result> left, there;
      for (std::uint64_t at = 0; at < n; ++at) left.push_back(one(at));
      std::ranges::shuffle(left, random);
      while (!left.empty()) {  // some at a time
        for (auto some = 1 + random() % 4; some > 0 && !left.empty(); --some) {
          there.push_back(left.back());
          left.pop_back();
        }
        there = merge_parts(std::move(there), n, in_brackets);
      }
      ASSERT_EQ(there.size(), 1u);
      if (first.empty()) first = words(there[0].bytes);
      EXPECT_EQ(words(there[0].bytes), first);
    }
  }
}

TEST(partial_results, of_a_contiguous_range_are_few) {
  for (std::uint64_t begin = 0; begin < 100; begin += 7)
    for (std::uint64_t end = begin + 1; end <= 100; end += 5) {
      std::vector<partial_result> parts;
      for (std::uint64_t at = begin; at < end; ++at) parts.push_back({at, at + 1, {}});
      EXPECT_LE(merge_parts(parts, 100, [](auto&, auto) {}).size(), 14u);
    }
}

}  // namespace
}  // namespace plaq::elements
