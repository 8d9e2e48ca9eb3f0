#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plaq/dca/walk/phases.hpp"

using plaq::dca::fourier_phases;

TEST(fourier_phases, agree_with_the_standard_library_at_any_frequency) {
  const double beta = 13.7;
  std::vector<double> tau = {0, beta / 2, std::nextafter(beta, 0), beta / 4, 1e-9};
  for (int i = 1; i < 1000; ++i) tau.push_back(beta * i / 1000.3);
  std::vector<float> c(tau.size()), s(tau.size());
  for (int n : {1, 3, 5, 99, 1001, 65537, 1000001}) {
    fourier_phases(int(tau.size()), tau.data(), beta, n, c.data(), s.data());
    double worst = 0;
    for (std::size_t i = 0; i < tau.size(); ++i) {
      const long double angle = M_PIl * n * tau[i] / beta;
      worst = std::max({worst, std::abs(double(c[i] - std::cos(angle))), std::abs(double(s[i] - std::sin(angle)))});
    }
    EXPECT_LT(worst, 4e-7) << "n = " << n;
  }
}
