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
  p->rules.measurements_per_bin = 64;  // long enough for several samples of the load
  constexpr int chains = 5;
  const auto bits = [&](const run_options& options) {
    control c;
    std::vector<std::vector<double>> sums;
    for (const chain_state& chain : run_all(p, fresh_chains(chains, [](int) { return true; }), options, c))
      for (const bin_result& bin : chain.bins) sums.push_back(bin.sums);
    EXPECT_EQ(sums.size(), std::size_t(chains * p->rules.bins));
    return sums;
  };
  run_options options;
  options.pool.workers = 1;
  options.in_flight = 1;
  const auto reference = bits(options);
  for (const char* backend : {"fiber", "os"}) {
    options.backend = backend;
    options.pool.workers = 2;
    options.in_flight = 0;
    std::atomic<int> looks{0}, most{0};
    options.decide = [&](const batch::load_sample& now) {
      most = std::max(most.load(), now.in_progress);
      return looks++ % 3 == 0 ? 1 : 4;
    };
    options.sample_every = std::chrono::milliseconds(1);
    EXPECT_EQ(bits(options), reference) << backend;
    EXPECT_GT(looks, 3);
    EXPECT_GT(most, 1);
  }
}

}  // namespace
}  // namespace plaq::dca
