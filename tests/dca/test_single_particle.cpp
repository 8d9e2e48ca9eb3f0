#include <gtest/gtest.h>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/single_particle.hpp"
#include "small_problem.hpp"

using namespace plaq::dca;

TEST(single_particle, agrees_with_the_sum_over_pairs_of_vertices) {
  const torus cluster{3, 2};
  const int sites = cluster.size();
  const double beta = 4;
  const std::vector<int> odd = {1, 3, 7, 201};
  single_particle fast(beta, sites, odd, cluster.difference());
  std::vector<std::complex<double>> slow(sites * odd.size());
  // Sites without vertices, runs beyond the vectorised length, and no vertex at all.
  std::uint64_t seed = 0;
  for (const auto& counts : {std::vector{9, 0, 1, 17, 3, 8}, {0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 2}}) {
    sample s = random_sample(counts, beta, ++seed);
    s.sign = seed == 1 ? -1 : 1;
    fast.accumulate(s);
    for (int x = 0; x < sites; ++x)
      for (int y = 0; y < sites; ++y)
        for (std::size_t f = 0; f < odd.size(); ++f)
          for (int side = 0; side < 2; ++side)
            for (int p = s.first[x]; p < s.first[x + 1]; ++p)
              for (int q = s.first[y]; q < s.first[y + 1]; ++q)
                slow[cluster.difference()[x * sites + y] * odd.size() + f] +=
                    0.5 * s.sign * s.m[side](p, q) * std::polar(1., odd[f] * M_PI * (s.tau[p] - s.tau[q]) / beta);
  }
  std::vector<double> sum(fast.size(), 1.);
  fast.flush(sum);
  ASSERT_EQ(sum.size(), 2 * slow.size());
  for (std::size_t i = 0; i < slow.size(); ++i) {
    EXPECT_NEAR(sum[2 * i] - 1, slow[i].real(), 1e-4);
    EXPECT_NEAR(sum[2 * i + 1] - 1, slow[i].imag(), 1e-4);
  }
  std::vector<double> again(fast.size());
  fast.flush(again);
  EXPECT_EQ(again, std::vector<double>(fast.size()));
}

TEST(single_particle, refuses_even_frequencies) {
  EXPECT_THROW(single_particle(1., 1, {2}, {0}), plaq::runtime_failure);
}
