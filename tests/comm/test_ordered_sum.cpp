// Runs on any number of ranks; each rank compares with what it can compute alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::in_small_pieces;
using test::message_of;
using test::numbers;
using test::world;

TEST(ordered_sum, is_tested_with_numbers_whose_order_matters) {
  const auto forward = numbers(1, 50);
  const std::vector<double> backward(forward.rbegin(), forward.rend());
  EXPECT_NE(std::accumulate(forward.begin(), forward.end(), 0.), std::accumulate(backward.begin(), backward.end(), 0.));
}

// The oracle is one loop over all pieces.
template <class T>
void sums_in_order(collectives& c, std::size_t n, int pieces, auto&& owner) {
  std::vector<std::vector<T>> values(pieces);
  std::vector<T> expected;
  for (int i = 0; i < pieces; ++i) {
    const auto x = numbers(i, n);
    values[i].assign(x.begin(), x.end());
    if (i == 0)
      expected = values[i];
    else
      for (std::size_t j = 0; j < n; ++j) expected[j] += values[i][j];
  }
  std::vector<piece<T>> mine;
  for (int i = pieces - 1; i >= 0; --i)  // they may come in any order
    if (owner(i) == c.rank()) mine.push_back({10 * i, values[i]});
  std::vector<T> sum(n);
  c.ordered_sum<T>(mine, sum);
  EXPECT_EQ(sum, expected);
}

TEST(ordered_sum, has_the_bits_of_one_loop_whoever_holds_the_pieces) {
  for (const auto* over : {&world(), &in_small_pieces()}) {
    collectives c(*over);
    const int p = c.size();
    for (int pieces : {1, 2, 8, 13})
      for (std::size_t n : {0, 1, 50}) {
        sums_in_order<double>(c, n, pieces, [&](int i) { return i * p / pieces; });
        sums_in_order<double>(c, n, pieces, [&](int i) { return i % p; });
        sums_in_order<float>(c, n, pieces, [&](int i) { return (i * i + 1) % p; });
        sums_in_order<std::complex<double>>(c, n, pieces, [&](int) { return p - 1; });
      }
  }
  // Several segments in flight, and a last one that is not full.
  collectives c(world());
  const int p = c.size();
  sums_in_order<double>(c, 300007, 6, [&](int i) { return i % p; });
  sums_in_order<float>(c, 600001, 5, [&](int i) { return i * p / 5; });
}

TEST(ordered_sum, refuses_on_all_ranks_what_one_rank_has_wrong) {
  collectives c(world());
  const int last = world().size() - 1;
  const bool odd_one = world().rank() == last;
  const std::vector<double> x(4, 1.), longer(5, 1.);
  std::vector<double> sum(4);
  const auto sum_of = [&](std::vector<piece<double>> mine) { c.ordered_sum<double>(mine, sum); };

  EXPECT_THROW(sum_of({}), plaq::input_error);
  auto text = message_of<plaq::input_error>([&] {
    if (odd_one)
      sum_of({{5, x}, {5, x}});
    else
      sum_of({});
  });
  EXPECT_NE(text.find("piece 5 is there twice"), std::string::npos) << text;
  text = message_of<plaq::input_error>([&] { sum_of({{world().rank(), odd_one ? longer : x}}); });
  EXPECT_NE(text.find("rank " + std::to_string(last) + " has 5 values"), std::string::npos) << text;
  sum_of({{world().rank(), x}});
  EXPECT_EQ(sum, std::vector<double>(4, world().size()));
}

}  // namespace
