#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "plaq/base/random.hpp"

using namespace plaq;

namespace {
constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
}

TEST(random_words, are_a_pure_function_of_stream_and_index) {
  const stream_id s{7, 1, 2, 3, 4, 5};
  std::vector<std::array<std::uint64_t, 4>> upwards, downwards(100);
  for (int i = 0; i < 100; ++i) upwards.push_back(random_words(s, i));
  for (int i = 99; i >= 0; --i) downwards[i] = random_words(s, i);
  EXPECT_EQ(upwards, downwards);
}

TEST(random_words, differ_when_any_member_of_the_stream_differs) {
  const stream_id base{7, 1, 2, 3, 4, 5};
  std::vector<stream_id> streams(7, base);
  ++streams[1].seed, ++streams[2].purpose, ++streams[3].i, ++streams[4].j, ++streams[5].k, ++streams[6].l;
  std::set<std::uint64_t> seen;
  for (const stream_id& s : streams)
    for (int i = 0; i < 10; ++i)
      for (std::uint64_t word : random_words(s, i)) seen.insert(word);
  EXPECT_EQ(seen.size(), streams.size() * 10 * 4);
}

// A counter that is too large for its coordinate would draw another one's numbers.
template <class Counter>
constexpr bool fits_the_third = requires(Counter n) { stream_id{7, 1, 2, 3, n, 5}; };
template <class Counter>
constexpr bool fits_the_last = requires(Counter n) { stream_id{7, 1, 2, 3, 4, n}; };
static_assert(fits_the_third<std::uint32_t> && !fits_the_third<std::uint64_t> && !fits_the_third<int>);
static_assert(fits_the_last<std::uint64_t> && !fits_the_last<double>);

// Stopped runs of an earlier version resume to the same bits. Philox4x64-10 with counter
// (9, 5, 3 << 32 | 4, 1 << 32 | 2) and key (7, 0x706c6171).
TEST(random_words, of_a_stream_never_change) {
  const std::array<std::uint64_t, 4> words{0x2e621d1a3c76fedcu, 0xf903dde575c6cd29u, 0x58aba90715780851u,
                                           0xaee4b64bbcc65322u};
  EXPECT_EQ(random_words({7, 1, 2, 3, 4, 5}, 9), words);
}

// Neighbours in any member and in the index are uncorrelated: |rho| < 5 standard errors = 5 / sqrt(n).
TEST(random_words, of_neighbouring_streams_are_uncorrelated) {
  const int n = 40000;
  const stream_id base{7, 1, 2, 3, 4, 5};
  stream_id third = base, last = base;
  ++third.k, ++last.l;
  auto number = [](const stream_id& s, std::uint64_t i, int word) {
    return unit_interval(random_words(s, i)[word]) - 0.5;
  };
  double with_third = 0, with_last = 0, with_next = 0, with_word = 0;
  for (int i = 0; i < n; ++i) {
    const double x = number(base, i, 0);
    with_third += x * number(third, i, 0);
    with_last += x * number(last, i, 0);
    with_next += x * number(base, i + 1, 0);
    with_word += x * number(base, i, 1);
  }
  for (double sum : {with_third, with_last, with_next, with_word}) EXPECT_LT(std::abs(12 * sum / n), 5 / std::sqrt(n));
}

TEST(unit_interval, stays_below_one) {
  EXPECT_EQ(unit_interval(0), 0.);
  EXPECT_LT(unit_interval(largest), 1.);
}

// chi^2 over 64 cells has mean 63 and standard deviation sqrt(126); 5 of them allowed.
TEST(unit_interval, is_uniform) {
  const int n = 64000, cells = 64;
  for (int word = 0; word < 4; ++word) {
    std::vector<int> count(cells);
    for (int i = 0; i < n; ++i) ++count[int(cells * unit_interval(random_words({3, 1, 0, 0, 0, 0}, i)[word]))];
    double chi2 = 0;
    for (int c : count) chi2 += (c - double(n) / cells) * (c - double(n) / cells) / (double(n) / cells);
    EXPECT_NEAR(chi2, cells - 1, 5 * std::sqrt(2. * (cells - 1)));
  }
}

TEST(below, covers_its_range_and_nothing_else) {
  EXPECT_EQ(below(0, 10), 0u);
  EXPECT_EQ(below(largest, 10), 9u);
  EXPECT_EQ(below(largest, 1), 0u);
  std::vector<int> count(7);
  const int n = 70000;
  for (int i = 0; i < n; ++i) ++count.at(below(random_words({3, 1, 0, 0, 0, 0}, i)[0], 7));
  for (int c : count) EXPECT_NEAR(c, n / 7., 5 * std::sqrt(n / 7.));
}
