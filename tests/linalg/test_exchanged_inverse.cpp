#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "plaq/linalg/exchanged_inverse.hpp"
#include "plaq/linalg/inverse.hpp"

using namespace plaq::linalg;

namespace {

struct inverted {
  matrix<double> inverse;
  double det;
};

inverted invert_dense(const matrix<double>& a) {
  inverted out{a, 0};
  const log_det det = invert(a.rows(), out.inverse.data(), out.inverse.stride());
  out.det = det.sign * std::exp(det.log);
  return out;
}

// A matrix whose elements belong to pairs of labels: an exchange changes the list of labels alone.
struct labelled {
  std::vector<int> labels;

  static double element(int row, int column) {
    std::mt19937_64 random(std::uint64_t(row) * 1000 + column);
    return std::uniform_real_distribution<double>(-1, 1)(random) + (row == column ? 2.5 : 0.);
  }
  matrix<double> dense() const {
    const int n = int(labels.size());
    matrix<double> a(n, n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) a(i, j) = element(labels[i], labels[j]);
    return a;
  }
  void offer(const std::vector<int>& in, exchanged_inverse::new_elements& to) const {
    for (int b = 0; b < int(in.size()); ++b) {
      for (int i = 0; i < int(labels.size()); ++i) {
        to.columns(i, b) = element(labels[i], in[b]);
        to.rows(i, b) = element(in[b], labels[i]);
      }
      for (int a = 0; a < int(in.size()); ++a) to.corner(a, b) = element(in[a], in[b]);
    }
  }
};

void start(exchanged_inverse& d, const labelled& of) {
  const auto exact = invert_dense(of.dense()).inverse;
  auto& n = d.reset(exact.rows());
  for (int j = 0; j < exact.columns(); ++j)
    for (int i = 0; i < exact.rows(); ++i) n(i, j) = exact(i, j);
}

void expect_inverse(const exchanged_inverse& d, const labelled& of, double tolerance) {
  const auto exact = invert_dense(of.dense()).inverse;
  ASSERT_EQ(d.size(), exact.rows());
  for (int j = 0; j < d.size(); ++j)
    for (int i = 0; i < d.size(); ++i) ASSERT_NEAR(d.inverse()(i, j), exact(i, j), tolerance) << i << ' ' << j;
}

}  // namespace

TEST(exchanged_inverse, follows_a_dense_inverse_through_random_exchanges) {
  std::mt19937_64 random(3);
  labelled a{{1, 2, 3, 4, 5}};
  exchanged_inverse d;
  start(d, a);
  int next = 6, shrunk = 0, grown = 0, exchanged = 0;
  for (int step = 0; step < 400; ++step) {
    const int n = int(a.labels.size());
    std::vector<int> out, in;
    for (int q = int(random() % 4); q > 0 && n > 3;) {
      const int i = int(random() % n);
      if (std::ranges::find(out, i) == out.end()) out.push_back(i);
      --q;
    }
    for (int p = int(random() % (n > 20 ? 2 : 4)); p > 0; --p) in.push_back(next++);
    labelled after = a;
    exchanged_inverse::exchange_in(after.labels, out, in);
    a.offer(in, d.prepare(int(in.size())));
    const double expected = invert_dense(after.dense()).det / invert_dense(a.dense()).det;
    ASSERT_NEAR(d.try_exchange(out), expected, 1e-8 * (1 + std::abs(expected)));
    if (std::abs(expected) < 0.02 || step % 5 == 0) continue;  // rejected: nothing may have changed
    d.exchange();
    a = after;
    (in.size() > out.size() ? grown : in.size() < out.size() ? shrunk : exchanged) += 1;
    expect_inverse(d, a, 1e-7);
  }
  EXPECT_GT(grown, 50);
  EXPECT_GT(shrunk, 50);
  EXPECT_GT(exchanged, 50);
}

// One by one neither order would do: without the old element D is singular, with both it is too.
TEST(exchanged_inverse, replaces_an_element_that_nothing_can_do_without) {
  exchanged_inverse d;
  auto& n = d.reset(2);
  n(0, 0) = 0, n(0, 1) = 1, n(1, 0) = 1, n(1, 1) = 0;  // D = [[0, 1], [1, 0]]
  auto& in = d.prepare(1);
  in.columns(0, 0) = 4, in.columns(1, 0) = 0;
  in.rows(0, 0) = 2, in.rows(1, 0) = 0;
  in.corner(0, 0) = 0;
  EXPECT_DOUBLE_EQ(d.try_exchange({1}), 8);  // D' = [[0, 4], [2, 0]], det -8 over -1
  d.exchange();
  EXPECT_DOUBLE_EQ(d.inverse()(0, 1), 0.5);
  EXPECT_DOUBLE_EQ(d.inverse()(1, 0), 0.25);
  EXPECT_DOUBLE_EQ(d.inverse()(0, 0), 0);
  EXPECT_DOUBLE_EQ(d.inverse()(1, 1), 0);
}

TEST(exchanged_inverse, may_lose_all_and_gain_again) {
  labelled a{{7, 8}};
  exchanged_inverse d;
  start(d, a);
  d.prepare(0);
  EXPECT_NEAR(d.try_exchange({0, 1}), 1 / invert_dense(a.dense()).det, 1e-14);
  d.exchange();
  EXPECT_EQ(d.size(), 0);
  const labelled none, b{{9, 11, 13}};
  none.offer(b.labels, d.prepare(3));
  EXPECT_NEAR(d.try_exchange({}), invert_dense(b.dense()).det, 1e-13);
  d.exchange();
  expect_inverse(d, b, 1e-14);
}

TEST(exchanged_inverse, lists_follow_in_the_same_order) {
  std::vector<int> list = {10, 11, 12, 13, 14};
  exchanged_inverse::exchange_in(list, {1, 4}, {20});  // 4 is a gap at the end
  EXPECT_EQ(list, (std::vector{10, 20, 12, 13}));
  exchanged_inverse::exchange_in(list, {2}, {21, 22, 23});
  EXPECT_EQ(list, (std::vector{10, 20, 21, 13, 22, 23}));
  exchanged_inverse::exchange_in(list, {0, 4}, {});  // 23 into the gap at 4, then into that at 0
  EXPECT_EQ(list, (std::vector{23, 20, 21, 13}));
}
