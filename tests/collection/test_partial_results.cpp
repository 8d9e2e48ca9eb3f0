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
partial_result one(place at, std::size_t number) { return {at, at, packed(std::string(1, char('a' + number)))}; }

TEST(partial_results, have_the_brackets_of_halves) {
  const auto all = [](place n) {
    std::vector<partial_result> parts;
    for (place at = 0; at < n; ++at) parts.push_back(one(at, at));
    const auto out = merge_parts(parts, {n}, in_brackets);
    EXPECT_EQ(out.size(), 1u);
    return words(out[0].bytes);
  };
  EXPECT_EQ(all(1), "a");
  EXPECT_EQ(all(4), "((ab)(cd))");
  EXPECT_EQ(all(5), "(((ab)(cd))e)");
  EXPECT_EQ(all(7), "(((ab)(cd))((ef)g))");
  EXPECT_TRUE(merge_parts({}, {}, in_brackets).empty());
}

// Places without a value between them, at the ends of all places too.
TEST(partial_results, come_to_the_same_in_any_sequence) {
  std::mt19937_64 random(7);
  for (std::size_t n = 1; n < 26; ++n) {
    std::vector<place> at{0, ~place(0)};
    while (at.size() < n) at.push_back(random() >> random() % 60);
    at.resize(n);
    std::ranges::sort(at);
    const auto again = std::ranges::unique(at);
    at.erase(again.begin(), again.end());
    std::string first;
    for (int time = 0; time < 20; ++time) {
      // ranks, each with an interval of places, that merge their own and then what their tree has
      const std::size_t ranks = 1 + random() % 5;
      std::vector<place> begin{0};
      while (begin.size() < ranks) begin.push_back(random() >> random() % 60);
      std::ranges::sort(begin);
      std::vector<partial_result> there;
      for (std::size_t r = 0; r < ranks; ++r) {
        const place end = r + 1 < ranks ? begin[r + 1] - 1 : ~place(0);
        if (r + 1 < ranks && begin[r] == begin[r + 1]) continue;
        std::vector<partial_result> own;
        for (std::size_t i = 0; i < at.size(); ++i)
          if (begin[r] <= at[i] && at[i] <= end) own.push_back(one(at[i], i));
        std::ranges::shuffle(own, random);
        for (auto& part : merge_parts(std::move(own), {begin[r], end}, in_brackets)) there.push_back(std::move(part));
        if (time % 2) there = merge_parts(std::move(there), {begin[0], end}, in_brackets);
      }
      there = merge_parts(std::move(there), {}, in_brackets);
      ASSERT_EQ(there.size(), 1u);
      if (first.empty()) first = words(there[0].bytes);
      EXPECT_EQ(words(there[0].bytes), first);
    }
  }
}

TEST(partial_results, of_a_contiguous_range_are_few) {
  for (place begin = 0; begin < 100; begin += 7)
    for (place end = begin + 1; end <= 100; end += 5) {
      std::vector<partial_result> parts;
      for (place at = begin; at < end; ++at) parts.push_back({at, at, {}});
      EXPECT_LE(merge_parts(parts, {100}, [](auto&, auto) {}).size(), 14u);
    }
}

TEST(partial_results, of_one_place_are_refused) {
  EXPECT_THROW(merge_parts({one(3, 0), one(3, 1)}, {}, in_brackets), runtime_failure);
}

}  // namespace
}  // namespace plaq::elements
