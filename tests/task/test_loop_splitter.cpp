// How ranges are cut, without the tasks that run the pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "plaq/task/parallel_for.hpp"
#include "plaq/task/sharing.hpp"
#include "plaq/task/worker_numbers.hpp"

namespace plaq::task::detail {
namespace {

constexpr sharing sharings[] = {sharing::static_, sharing::dynamic, sharing::guided};

TEST(HandOut, GivesEveryIndexToOneMemberInAscendingPieces) {
  std::mt19937 random(3);
  for (const auto how : sharings)
    for (const std::size_t n : {1, 2, 3, 7, 64, 1000})
      for (const std::size_t workers : {1, 2, 3, 8, 100})
        for (const std::size_t chunk : {0, 1, 5, 64, 5000}) {
          loop_splitter range(n, workers, {.sharing = how, .chunk = chunk});
          ASSERT_LE(range.members(), workers);
          ASSERT_LE(range.members(), 1 + (n - 1) / std::max<std::size_t>(chunk, 1)) << "one for each chunk";
          std::vector<loop_splitter::piece> last(range.members());
          std::vector<int> seen(n);
          std::vector<std::size_t> asking(range.members());
          for (std::size_t m = 0; m < asking.size(); ++m) asking[m] = m;
          while (!asking.empty()) {  // in any order
            const std::size_t chosen = random() % asking.size(), m = asking[chosen];
            const std::size_t before = last[m].to;
            if (!range.next(m, last[m])) {
              asking.erase(asking.begin() + static_cast<std::ptrdiff_t>(chosen));
              continue;
            }
            ASSERT_GE(last[m].from, before);
            ASSERT_LT(last[m].from, last[m].to);
            ASSERT_LE(last[m].to, n);
            if (how == sharing::guided && last[m].to < n) {
              ASSERT_GE(last[m].to - last[m].from, std::max<std::size_t>(chunk, 1));
            }
            for (auto i = last[m].from; i < last[m].to; ++i) ++seen[i];
          }
          ASSERT_EQ(seen, std::vector<int>(n, 1)) << n << " " << workers << " " << chunk;
        }
}

TEST(HandOut, GuidedPiecesShrinkToTheChunk) {
  loop_splitter range(1000, 4, {.sharing = sharing::guided, .chunk = 10});
  loop_splitter::piece p;
  std::size_t last = 1000, count = 0;
  for (std::size_t left = 1000; range.next(count % 4, p); left -= p.to - p.from, ++count) {
    const std::size_t size = p.to - p.from;
    EXPECT_EQ(size, std::min(left, std::max<std::size_t>(10, left / 8)));
    EXPECT_LE(size, last);
    last = size;
  }
  EXPECT_LT(count, 40u);
}

template <class Index>
void expect_lengths() {
  constexpr Index least = std::numeric_limits<Index>::min(), most = std::numeric_limits<Index>::max();
  EXPECT_EQ(length<Index>(least, most), std::numeric_limits<std::make_unsigned_t<Index>>::max());
  EXPECT_EQ(length<Index>(most, least), 0u);
  EXPECT_EQ(length<Index>(5, 5), 0u);
  EXPECT_EQ(length<Index>(5, 6), 1u);
  EXPECT_EQ(advanced<Index>(least, length<Index>(least, most)), most);
  EXPECT_EQ(advanced<Index>(5, 3), 8);
}

TEST(Length, IsThatOfRangesOfAnyInteger) {
  expect_lengths<signed char>();
  expect_lengths<unsigned char>();
  expect_lengths<std::int16_t>();
  expect_lengths<int>();
  expect_lengths<unsigned>();
  expect_lengths<std::int64_t>();
  expect_lengths<std::uint64_t>();
}

TEST(FirstError, IsThatOfTheLowestIndex) {
  first_error found;
  EXPECT_NO_THROW(found.rethrow());
  EXPECT_FALSE(found.comes_before(std::numeric_limits<std::size_t>::max()));
  for (const std::size_t index : {7, 9, 3, 3, 5}) found.report(index, std::make_exception_ptr(index));
  EXPECT_FALSE(found.comes_before(3));
  EXPECT_TRUE(found.comes_before(4));
  try {
    found.rethrow();
    FAIL();
  } catch (std::size_t index) {
    EXPECT_EQ(index, 3u);
  }
}

TEST(WorkerNumbers, AreTheLowestThatNoOtherPoolHas) {
  const worker_numbers a(3), b(2);
  EXPECT_EQ(a.first(), 0);
  EXPECT_EQ(b.first(), 3);
  {
    const worker_numbers c(4);
    EXPECT_EQ(c.first(), 5);
  }
  auto d = std::make_unique<worker_numbers>(1);
  const worker_numbers e(2);
  EXPECT_EQ(d->first(), 5);
  EXPECT_EQ(e.first(), 6);
  d.reset();
  const worker_numbers too_many(2), fits(1);
  EXPECT_EQ(too_many.first(), 8);
  EXPECT_EQ(fits.first(), 5);
}

}  // namespace
}  // namespace plaq::task::detail
