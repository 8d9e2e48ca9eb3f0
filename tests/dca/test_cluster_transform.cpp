#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/cluster_transform.hpp"
#include "small_problem.hpp"

namespace plaq::dca {

TEST(ClusterTransform, EqualsTheSumOverSites) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const torus cluster :
       {torus{1, 1}, torus{2, 2}, torus{4, 4}, torus{3, 1}, torus{5, 2}, torus{8, 1}, torus{6, 3}}) {
    const int n = cluster.size();
    const auto fourier = cluster.momenta().fourier;
    for (const std::size_t inner : {1, 5, 600}) {
      std::vector<float> re(n * inner), im(n * inner);
      for (auto* part : {&re, &im})
        for (float& x : *part) x = normal(random);
      for (const bool conjugate : {false, true}) {
        auto out_re = re, out_im = im;
        cluster_transform(fourier).apply(conjugate, inner, out_re.data(), out_im.data());
        for (int k = 0; k < n; ++k)
          for (const std::size_t i : {std::size_t(0), inner / 2, inner - 1}) {
            std::complex<double> sum = 0;
            for (int r = 0; r < n; ++r) {
              const auto phase = fourier[k * n + r];
              sum +=
                  (conjugate ? std::conj(phase) : phase) * std::complex<double>(re[r * inner + i], im[r * inner + i]);
            }
            EXPECT_NEAR(out_re[k * inner + i], sum.real(), 1e-5) << n << " sites, K " << k;
            EXPECT_NEAR(out_im[k * inner + i], sum.imag(), 1e-5) << n << " sites, K " << k;
          }
      }
    }
  }
}

TEST(ClusterTransform, TakesCharactersOfAGroupOnly) {
  EXPECT_THROW(cluster_transform(std::vector<std::complex<double>>(3, 1.)), runtime_failure);
  EXPECT_THROW(cluster_transform({1, 1, 1, 1, 1, -1, -1, 1, 1}), runtime_failure);
}

}  // namespace plaq::dca
