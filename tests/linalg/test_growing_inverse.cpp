#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "plaq/linalg/growing_inverse.hpp"
#include "plaq/linalg/inverse.hpp"

using namespace plaq::linalg;

namespace {

using dense = std::vector<std::vector<double>>;  // [row][column]

struct inverted {
  dense inverse;
  double det;
};

inverted invert_dense(const dense& a) {
  const int n = int(a.size());
  std::vector<double> flat(std::size_t(n) * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) flat[i + std::size_t(j) * n] = a[i][j];
  const log_det det = invert(n, flat.data(), std::max(n, 1));
  inverted out{dense(n, std::vector<double>(n)), det.sign * std::exp(det.log)};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) out.inverse[i][j] = flat[i + std::size_t(j) * n];
  return out;
}

void remove_row_and_column(dense& a, int q) {
  const int last = int(a.size()) - 1;
  std::swap(a[q], a[last]);
  a.pop_back();
  for (auto& row : a) row[q] = row[last], row.pop_back();
}

}  // namespace

TEST(growing_inverse, follows_a_dense_inverse_through_random_steps) {
  const int capacity = 24;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  growing_inverse b;
  b.reset(capacity);
  dense a;
  int appended = 0, removed = 0;
  for (int step = 0; step < 2000; ++step) {
    const int n = int(a.size());
    const double det = invert_dense(a).det;
    if (n == 0 || (n < capacity && uniform(random) > 0)) {
      std::vector<double> u(n), w(n);
      for (int i = 0; i < n; ++i) u[i] = uniform(random), w[i] = uniform(random);
      const double d = 1 + uniform(random);
      dense grown = a;
      for (int i = 0; i < n; ++i) grown[i].push_back(u[i]);
      grown.push_back(w);
      grown.back().push_back(d);
      const double ratio = b.ratio_append(u.data(), w.data(), d), expected = invert_dense(grown).det / det;
      ASSERT_NEAR(ratio, expected, 1e-9 * (1 + std::abs(expected)));
      if (std::abs(ratio) < 0.05) continue;  // a rejected proposal: nothing may have changed
      b.append(w.data());
      a = grown;
      ++appended;
    } else {
      const int q = int(random() % n);
      dense shrunk = a;
      remove_row_and_column(shrunk, q);
      const double expected = invert_dense(shrunk).det / det;
      ASSERT_NEAR(b.ratio_remove(q), expected, 1e-9 * (1 + std::abs(expected)));
      if (std::abs(expected) < 0.05) continue;
      b.remove(q);
      a = shrunk;
      ++removed;
    }
    ASSERT_EQ(b.size(), int(a.size()));
    const dense exact = invert_dense(a).inverse;
    for (int i = 0; i < b.size(); ++i)
      for (int j = 0; j < b.size(); ++j)
        ASSERT_NEAR(b.data()[i + std::size_t(j) * b.stride()], exact[i][j], 1e-8) << "step " << step;
  }
  EXPECT_GT(appended, 300);
  EXPECT_GT(removed, 300);
}

TEST(growing_inverse, is_empty_after_a_reset_and_takes_a_larger_capacity) {
  growing_inverse b;
  b.reset(1);
  const double none = 0;
  EXPECT_EQ(b.ratio_append(&none, &none, 4.), 4.);
  b.append(&none);
  EXPECT_EQ(b.data()[0], 0.25);
  b.reset(100);
  EXPECT_EQ(b.size(), 0);
  EXPECT_EQ(b.ratio_append(&none, &none, 2.), 2.);
}
