#include <gtest/gtest.h>

#include <numeric>

#include "kernels.hpp"
#include "numbers.hpp"
#include "plaq/gpu/host_team.hpp"

using namespace plaq::gpu;

TEST(team, operations_do_what_they_say) {
  for (const int n : {1, 5, 32, 33, 100, 257}) {
    const auto x = numbers(n, 3);
    std::vector<double> out(doubles_for(n), -1.);
    serial_team team;
    every_operation(team, n, x.data(), out.data());
    double square = 0;
    int most = 0;
    for (int i = 0; i < n; ++i) {
      square += 2 * x[i] * x[i];
      if (std::abs(x[i]) > std::abs(x[most])) most = i;
    }
    EXPECT_NEAR(out[n], square, 1e-13 * (1 + square));
    EXPECT_EQ(out[n + 1], most);
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < n; ++i) EXPECT_EQ(out[(2 + j) * n + 2 + i], out[n] + i * 10 + j);
    for (int j = 0; j < n; ++j) {
      if (j % 3 == 1) {
        EXPECT_EQ(out[5 * n + 2 + j], -1);
        continue;
      }
      double product = 0;
      for (int i = 0; i < n; ++i) product += x[i] * x[(i + j) % n];
      EXPECT_NEAR(out[5 * n + 2 + j], product, 1e-13 * (1 + square));
    }
    int positive = 0;
    for (int i = 0; i < n; ++i)
      if (x[i] > 0) {
        EXPECT_EQ(out[6 * n + 2 + positive++], i);
      }
    EXPECT_EQ(out[7 * n + 2], positive);
  }
}

TEST(team, of_any_number_of_threads_gives_the_same_bits) {
  const int n = 67;
  const auto x = numbers(n, 4);
  std::vector<double> alone(doubles_for(n));
  serial_team team;
  every_operation(team, n, x.data(), alone.data());
  for (const int threads : {1, 2, 3, 5}) {
    std::vector<double> out(doubles_for(n));
    thread_team::run(threads, [&](thread_team& t) { every_operation(t, n, x.data(), out.data()); });
    EXPECT_EQ(out, alone) << threads << " threads";
  }
}

TEST(team, adds_in_lanes_and_these_by_halves) {
  // 1 and 2^-60 are 32 terms apart, so in one lane; their like in lanes 16 apart meet first of all lanes.
  std::vector<double> x(64, 0.);
  x[3] = 1, x[35] = 0x1p-60, x[19] = -1;
  serial_team team;
  EXPECT_EQ(team.sum(64, [&](int i, double so_far) { return so_far + x[i]; }), 0.);
  x[35] = 0, x[4] = 0x1p-60;
  EXPECT_EQ(team.sum(64, [&](int i, double so_far) { return so_far + x[i]; }), 0x1p-60);
}
