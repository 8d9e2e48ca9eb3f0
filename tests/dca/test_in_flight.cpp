// Chains that come and go as places change.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "plaq/dca/solver.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

TEST(InFlightRun, ChainsThatMakeWayKeepTheirBits) {
  const auto p = some_problem(true, {{channel::magnetic, 3, 0}});
  p->rules.bins = 6;
  p->rules.measurements_per_bin = 16;
  constexpr int chains = 5;
  const auto bits = [&](const run_options& how) {
    control c;
    std::vector<std::vector<double>> sums;
    for (const chain_state& chain : taken_on(p, fresh(chains, [](int) { return true; }), how, c))
      for (const bin_result& bin : chain.bins) sums.push_back(bin.sums);
    EXPECT_EQ(sums.size(), std::size_t(chains * p->rules.bins));
    return sums;
  };
  run_options how;
  how.pool.workers = 1;
  how.in_flight = 1;
  const auto reference = bits(how);
  for (const char* backend : {"fiber", "os"}) {
    how.backend = backend;
    how.pool.workers = 2;
    how.in_flight = 0;
    std::atomic<int> looks{0}, most{0};
    how.decide = [&](const batch::load_sample& now) {
      most = std::max(most.load(), now.in_progress);
      return looks++ % 3 == 0 ? 1 : 4;
    };
    how.sample_every = std::chrono::milliseconds(1);
    EXPECT_EQ(bits(how), reference) << backend;
    EXPECT_GT(looks, 3);
    EXPECT_GT(most, 1);
  }
}

}  // namespace
}  // namespace plaq::dca
