// Lines of any length, against the definition.
#include <gtest/gtest.h>

#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "plaq/fft/lines.hpp"
#include "reference.hpp"

namespace plaq::fft {
namespace {

using namespace test;

const std::vector<std::size_t> lengths{1,  2,  3,  4,  5,  6,  7,  8,  9,   12,  15, 16,
                                       20, 22, 31, 34, 49, 60, 64, 97, 100, 128, 202};

values drawn_lines(std::size_t length, std::size_t count) {
  values out;
  for (std::size_t i = 0; i < length * count; ++i) out.emplace_back(drawn_number(2 * i), drawn_number(2 * i + 1));
  return out;
}

TEST(lines, of_complex_numbers_are_the_sum_that_defines_them) {
  for (const std::size_t n : lengths) {
    const values start = drawn_lines(n, 3);
    values expected = start, found = start;
    for (std::size_t k = 0; k < 3; ++k) transform_line(&expected[k * n], n, 1, -1);
    const lines all(n);
    all.forward(std::span(found));
    EXPECT_LT(largest_difference(found, expected), 1e-14 * double(n) + 1e-15) << n;
    all.backward(std::span(found));
    for (auto& v : found) v /= double(n);
    EXPECT_LT(largest_difference(found, start), 2e-14) << n;
  }
}

TEST(lines, of_real_numbers_are_half_of_those_of_complex_ones) {
  for (const std::size_t n : lengths) {
    std::vector<double> real;
    values expected;
    for (std::size_t i = 0; i < 2 * n; ++i) real.push_back(drawn_number(i)), expected.emplace_back(real.back());
    for (std::size_t k = 0; k < 2; ++k) transform_line(&expected[k * n], n, 1, -1);
    const std::size_t half = n / 2 + 1;
    values found(2 * half);
    const lines all(n);
    all.forward(std::span<const double>(real), std::span(found));
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t i = 0; i < half; ++i)
        EXPECT_LT(std::abs(found[k * half + i] - expected[k * n + i]), 1e-14 * double(n) + 1e-15) << n << ", " << i;
    std::vector<double> back(2 * n);
    all.backward(std::span<const complex>(found), std::span(back));
    for (std::size_t i = 0; i < 2 * n; ++i) EXPECT_NEAR(back[i] / double(n), real[i], 2e-14) << n;
  }
}

// In groups of any number of lines, interleaved or not: what a line becomes does not depend on its company.
TEST(lines, have_the_same_bits_alone_and_among_others) {
  for (const std::size_t n : {2u, 12u, 37u, 53u, 64u, 106u, 143u})
    for (const std::size_t stride : {1u, 3u, 8u, 19u}) {
      const std::size_t outer = 3;
      values all = drawn_lines(n, outer * stride);
      const values start = all;
      const lines of(n);
      of.forward(std::span(all), stride);
      for (std::size_t o = 0; o < outer; ++o)
        for (std::size_t i = 0; i < stride; ++i) {
          values one(n);
          for (std::size_t k = 0; k < n; ++k) one[k] = start[(o * n + k) * stride + i];
          of.forward(std::span(one));
          for (std::size_t k = 0; k < n; ++k) EXPECT_EQ(all[(o * n + k) * stride + i], one[k]) << n << ", " << stride;
        }
      of.backward(std::span(all), stride, 1 / double(n));
      EXPECT_LT(largest_difference(all, start), 2e-14) << n;
    }
}

TEST(lines, keep_energy) {  // Parseval
  for (const std::size_t n : {30u, 64u, 101u}) {
    values line = drawn_lines(n, 1);
    double before = 0, after = 0;
    for (const auto& v : line) before += std::norm(v);
    lines(n).forward(std::span(line));
    for (const auto& v : line) after += std::norm(v);
    EXPECT_NEAR(after / double(n), before, 1e-13 * before);
  }
}

TEST(lines, are_whole) {
  const lines all(4);
  values five(5), twelve(12);
  std::vector<double> real(8);
  EXPECT_THROW(all.forward(std::span(five)), std::exception);
  EXPECT_THROW(all.backward(std::span(five)), std::exception);
  EXPECT_THROW(all.forward(std::span(twelve), 2), std::exception);
  EXPECT_THROW(all.forward(std::span<const double>(real), std::span(five)), std::exception);
  EXPECT_THROW(all.backward(std::span<const complex>(five), std::span(real)), std::exception);
  EXPECT_THROW(lines(0), std::exception);
}

TEST(lines, may_be_used_by_many_threads) {
  const lines all(120);
  values expected = drawn_lines(120, 1);
  const values start = expected;
  all.forward(std::span(expected));
  std::vector<std::jthread> running;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < 4; ++t)
    running.emplace_back([&, t] {
      for (int n = 0; n < 50; ++n) {
        values mine = start;
        all.forward(std::span(mine));
        wrong[t] += mine != expected;
      }
    });
  running.clear();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace plaq::fft
