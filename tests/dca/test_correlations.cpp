#include <gtest/gtest.h>

#include "plaq/dca/measure/correlations.hpp"
#include "plaq/dca/reference.hpp"
#include "small_problem.hpp"

using namespace plaq::dca;

namespace {

struct operator_at {
  int site;
  double time;
};

// <n_s(1) n_s'(2)> of one configuration, from holes h = 1 - n = c c+ and Wick's theorem for h.
double pair(const g0_table& g0, const sample& s, int side1, operator_at a, int side2, operator_at b) {
  auto g = [&](int side, operator_at x, operator_at y) {
    return reference::green(g0, s, side, x.site, x.time, y.site, y.time);
  };
  const double h1 = g(side1, a, a), h2 = g(side2, b, b);
  double hh = h1 * h2;
  if (side1 == side2) {
    if (a.site == b.site && a.time == b.time)
      hh = h1;  // h^2 = h
    else
      hh = h1 * h2 - g(side1, a, b) * g(side1, b, a);
  }
  return 1 - h1 - h2 + hh;
}

}  // namespace

TEST(correlations, agree_with_Wicks_theorem_pair_by_pair) {
  const torus cluster{3, 2};
  const int sites = cluster.size(), times = correlations::times;
  const double beta = 3;
  const auto g0 = two_level_bath(cluster, beta, 0.5, 0.4).table();
  const plaq::stream_id stream{5, 3, 0, 0, 0, 0};
  correlations fast(g0, cluster.difference(), stream);
  std::vector<double> slow(fast.size());
  std::uint64_t seed = 0;
  for (const auto& counts : {std::vector{2, 0, 1, 3, 1, 2}, {0, 0, 0, 0, 0, 0}}) {
    sample s = random_sample(counts, beta, ++seed);
    s.sign = seed == 1 ? -1 : 1;
    fast.accumulate(s);
    double density = 0, docc = 0, spin = 0, charge = 0;
    const auto words = plaq::random_words(stream, s.index);
    for (int a = 0; a < times; ++a)
      for (int i = 0; i < sites; ++i) {
        const operator_at here{i, beta * plaq::unit_interval(words[a])};
        density += s.sign * (pair(*g0, s, 0, here, 0, here) + pair(*g0, s, 1, here, 1, here)) / (times * sites);
        docc += s.sign * pair(*g0, s, 0, here, 1, here) / (times * sites);
        for (int b = 0; b < times; ++b)
          for (int j = 0; j < sites; ++j) {
            const operator_at there{j, beta * plaq::unit_interval(words[b])};
            const double same = pair(*g0, s, 0, here, 0, there) + pair(*g0, s, 1, here, 1, there);
            const double opposite = pair(*g0, s, 0, here, 1, there) + pair(*g0, s, 1, here, 0, there);
            const int R = cluster.difference()[i * sites + j];
            const double weight = s.sign / sites * (a == b ? 1. / times : beta / (times * (times - 1)));
            const int offset = 2 + (a == b ? 0 : 2 * sites);
            if (a == b) spin += weight * 0.25 * (same - opposite), charge += weight * (same + opposite);
            slow[offset + R] += weight * 0.25 * (same - opposite);
            slow[offset + sites + R] += weight * (same + opposite);
            for (int side = 0; side < 2 && a == b; ++side)
              slow[2 + 4 * sites + R] += weight / 2 * reference::green(*g0, s, side, i, here.time, j, there.time);
          }
      }
    EXPECT_NEAR(fast.last().density, density, 1e-5);
    EXPECT_NEAR(fast.last().double_occupancy, docc, 1e-5);
    EXPECT_NEAR(fast.last().spin_square, spin, 1e-4);
    EXPECT_NEAR(fast.last().charge_square, charge, 1e-4);
    slow[0] += density;
    slow[1] += docc;
  }
  std::vector<double> sum(fast.size());
  fast.flush(sum);
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], slow[i], 1e-4 * (1 + std::abs(slow[i]))) << i;
}
