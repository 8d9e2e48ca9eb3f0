// parallel_inclusive_scan, parallel_exclusive_scan and parallel_sort.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "conformance.hpp"
#include "plaq/base/random.hpp"

namespace plaq::task {

template <class B>
struct ScanSort : Conformance<B> {};
TYPED_TEST_SUITE(ScanSort, every_backend, backend_names);

namespace {
std::vector<double> random_numbers(std::size_t n) {
  std::vector<double> numbers(n);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = std::sin(1e4 * static_cast<double>(i * i % 9973)) * 1e3;
  return numbers;
}
const std::size_t lengths[] = {0, 1, 2, 3, 255, 256, 257, 1000, 5000};
}  // namespace

TYPED_TEST(ScanSort, ScansOfIntegersAreTheStandards) {
  for (int workers : {1, 3}) {
    typename TypeParam::pool pool({.workers = workers});
    for (std::size_t n : lengths) {
      std::vector<long> in(n), out(n), expected(n);
      for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<long>(i * 7919 % 101) - 50;
      std::inclusive_scan(in.begin(), in.end(), expected.begin());
      parallel_inclusive_scan(pool, "scan", in, out, std::plus{});
      EXPECT_EQ(out, expected) << n;
      std::exclusive_scan(in.begin(), in.end(), expected.begin(), 5L);
      parallel_exclusive_scan(pool, "scan", in, out, 5L, std::plus{}, {.sharing = sharing::static_, .chunk = 3});
      EXPECT_EQ(out, expected) << n;
      parallel_exclusive_scan(pool, "in place", in, in, 5L, std::plus{});
      EXPECT_EQ(in, expected) << n;
    }
  }
}

TYPED_TEST(ScanSort, ASumNeedNotCommute) {
  typename TypeParam::pool pool({.workers = 2});
  std::vector<std::string> words(700);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = std::string(1, static_cast<char>('a' + i % 26));
  std::vector<std::string> expected(words.size()), out(words.size());
  std::partial_sum(words.begin(), words.end(), expected.begin());
  parallel_inclusive_scan(pool, "words", words, out, std::plus{});
  EXPECT_EQ(out, expected);
}

TYPED_TEST(ScanSort, ScansOfFloatsHaveTheSameBitsOnAnyWorkers) {
  const std::vector<double> in = random_numbers(10007);
  std::vector<std::vector<double>> all;
  for (int workers : {1, 2, 5})
    for (sharing how : {sharing::static_, sharing::dynamic, sharing::guided}) {
      typename TypeParam::pool pool({.workers = workers});
      all.emplace_back(in.size());
      parallel_inclusive_scan(pool, "scan", in, all.back(), std::plus{}, {.sharing = how});
    }
  for (const auto& other : all) EXPECT_EQ(other, all.front());
  // The pieces of a reduction: its sum is the last of the scan's.
  typename TypeParam::pool pool({.workers = 2});
  std::vector<double> exact(in.size());
  long double sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_NEAR(all.front()[i], double(sum += in[i]), 1e-6);
}

TYPED_TEST(ScanSort, ErrorsOfAScan) {
  typename TypeParam::pool pool({.workers = 2});
  std::vector<int> in(1000, 1), out(999);
  EXPECT_THROW(parallel_inclusive_scan(pool, "short", in, out, std::plus{}), input_error);
  const auto fails = [](int a, int b) { return a + b > 100 ? throw 7 : a + b; };
  EXPECT_THROW(parallel_inclusive_scan(pool, "fails", in, in, fails), int);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(parallel_inclusive_scan(pool, "stopped", in, in, std::plus{}, {.stop = source.get_token()}), cancelled);
}

TYPED_TEST(ScanSort, SortsAsTheStandard) {
  for (int workers : {1, 3}) {
    typename TypeParam::pool pool({.workers = workers});
    for (std::size_t n : {0, 1, 2, 1000, 2047, 2048, 5000, 70001, 300000 / less}) {
      std::vector<double> numbers = random_numbers(n), expected = numbers;
      std::stable_sort(expected.begin(), expected.end());
      parallel_sort(pool, "sort", numbers);
      EXPECT_EQ(numbers, expected) << n;
      parallel_sort(pool, "again", numbers, std::greater<>());
      std::stable_sort(expected.begin(), expected.end(), std::greater<>());
      EXPECT_EQ(numbers, expected) << n;
    }
  }
}

TYPED_TEST(ScanSort, EqualElementsKeepTheirOrder) {
  typename TypeParam::pool pool({.workers = 2});
  for (std::size_t keys : {1, 2, 10, 1000}) {
    std::vector<std::pair<std::size_t, std::size_t>> pairs(20000);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {i * 7919 % keys, i};
    auto expected = pairs;
    const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(expected.begin(), expected.end(), by_key);
    parallel_sort(pool, "pairs", pairs, by_key);
    EXPECT_EQ(pairs, expected) << keys;
  }
}

TYPED_TEST(ScanSort, SortsWhatCanOnlyBeMoved) {
  struct owner {
    explicit owner(int n) : number(std::make_unique<int>(n)) {}
    std::unique_ptr<int> number;
  };
  typename TypeParam::pool pool({.workers = 2});
  std::vector<owner> owners;
  for (int i = 0; i < 9000; ++i) owners.emplace_back(i * 7919 % 9000);
  parallel_sort(pool, "owners", owners, [](const owner& a, const owner& b) { return *a.number < *b.number; });
  for (int i = 0; i < 9000; ++i) ASSERT_EQ(*owners[static_cast<std::size_t>(i)].number, i);
}

TYPED_TEST(ScanSort, ErrorsOfAComparison) {
  typename TypeParam::pool pool({.workers = 2});
  std::vector<double> numbers = random_numbers(10000);
  EXPECT_THROW(parallel_sort(pool, "fails", numbers, [](double a, double b) { return a > 999 ? throw 7 : a < b; }),
               int);
  EXPECT_EQ(numbers.size(), 10000u);
}

}  // namespace plaq::task
