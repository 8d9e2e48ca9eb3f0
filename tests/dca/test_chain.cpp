// Chains as a whole: what they can be cut into, where they may be stopped, and what their bins hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/accumulator.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

constexpr auto everyone = [](int) { return true; };

/// Small enough for hundreds of runs.
std::shared_ptr<problem> tiny_problem() {
  auto p = some_problem(true, {{channel::charge, 1, 0}}, {2, 1});
  p->rules.measurements_per_bin = 7;
  p->rules.bins = 4;
  p->moves.sweeps_between_worms = 3;
  p->moves.sweeps_between_rebuilds = 4;
  return p;
}

run_options on(const char* backend, int workers) {
  run_options options;
  options.backend = backend;
  options.pool.workers = workers;
  options.in_flight = 2;
  return options;
}

std::vector<chain_state> run_to_the_end(std::shared_ptr<const problem> p, std::vector<chain_state> chains,
                                        const run_options& options = on("os", 1)) {
  control c;
  return run_all(std::move(p), std::move(chains), options, c);
}

/// All that a chain has found and where it stands.
auto all_of(const std::vector<chain_state>& chains) {
  std::vector<double> out;
  for (const chain_state& c : chains) {
    out.insert(out.end(), {double(c.number), double(c.warm), double(c.bins_done), double(c.moves.proposed),
                           double(c.moves.accepted), c.drift, c.current.sign});
    for (const vertex& v : c.current.vertices) out.insert(out.end(), {double(v.site), double(v.spin), v.tau});
    for (const bin_result& bin : c.bins) {
      out.insert(out.end(), bin.sums.begin(), bin.sums.end());
      for (const auto& row : bin.series) out.insert(out.end(), row.begin(), row.end());
    }
  }
  return out;
}

TEST(chain, goes_on_to_the_same_bits_wherever_it_was_stopped) {
  const auto p = tiny_problem();
  const auto whole = all_of(run_to_the_end(p, fresh_chains(3, everyone)));
  int stops = 0;
  for (const int how_to_stop : {control::finish, control::abandon})
    for (std::uint64_t after = 1; after < 84; after += 4) {
      auto chains = fresh_chains(3, everyone);
      auto options = on("fiber", 2);
      std::uint64_t at = after;
      while (!std::ranges::all_of(chains, [&](const auto& c) { return c.complete(p->rules); })) {
        control c;
        std::atomic<bool> ended{false};
        std::jthread stopper([&] {
          while (c.measurements < at && !ended) std::this_thread::yield();
          c.stop = how_to_stop;
        });
        chains = run_all(p, std::move(chains), options, c);
        ended = true;
        ASSERT_EQ(chains.size(), 3u);
        for (const auto& s : chains) ASSERT_EQ(s.bins.size(), s.bins_done) << "whole bins";
        if (++stops > 3000) FAIL() << "it does not come forward";
        at += 7;
      }
      EXPECT_EQ(all_of(chains), whole) << "stopped after " << after;
    }
  EXPECT_GT(stops, 40);
}

TEST(chain, stopped_before_it_began_is_as_it_was) {
  const auto p = tiny_problem();
  for (const int stop : {control::finish, control::abandon}) {
    control c;
    c.stop = stop;
    const auto chains = run_all(p, fresh_chains(2, everyone), on("os", 1), c);
    ASSERT_EQ(chains.size(), 2u);
    EXPECT_EQ(c.measurements, 0u);
    EXPECT_EQ(all_of(chains), all_of(fresh_chains(2, everyone)));
  }
}

TEST(chain, needs_its_vertices_alone_to_go_on) {
  const auto p = tiny_problem();
  const auto whole = run_to_the_end(p, fresh_chains(1, everyone)).at(0);
  for (int cut = 1; cut < p->rules.bins; ++cut) {
    auto first = std::make_shared<problem>(*p);
    first->rules.bins = cut;
    chain_state kept = run_to_the_end(first, fresh_chains(1, everyone)).at(0);
    ASSERT_EQ(kept.bins.size(), std::size_t(cut));
    chain_state loaded;  // as from a file that somebody has taken the bins from
    loaded.number = kept.number;
    loaded.warm = true;
    loaded.bins_done = kept.bins_done;
    loaded.current = kept.current;
    const chain_state rest = run_to_the_end(p, {loaded}).at(0);
    ASSERT_EQ(rest.bins.size(), std::size_t(p->rules.bins - cut));
    for (std::size_t b = 0; b < rest.bins.size(); ++b)
      EXPECT_EQ(rest.bins[b].sums, whole.bins[std::size_t(cut) + b].sums) << "bin " << cut << " + " << b;
    EXPECT_EQ(rest.current.vertices.size(), whole.current.vertices.size());
  }
}

TEST(chain, has_numbers_of_its_own) {
  const auto p = tiny_problem();
  p->rules.bins = 1;
  std::vector<std::vector<double>> found;
  const auto run = [&](auto change) {
    auto other = std::make_shared<problem>(*p);
    chain_state s;
    change(*other, s);
    found.push_back(run_to_the_end(other, {s}).at(0).bins.at(0).sums);
  };
  run([](problem&, chain_state&) {});
  run([](problem&, chain_state& s) { s.number = 1; });
  run([](problem& other, chain_state&) { other.rules.seed = 6; });
  run([](problem& other, chain_state&) { other.rules.point = 1; });
  run([](problem& other, chain_state&) { other.rules.iteration = 1; });
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(found[i], found[j]) << i << " and " << j;
  run([](problem&, chain_state&) {});
  EXPECT_EQ(found.back(), found.front());
}

TEST(chain, walks_in_the_bath_that_is_its_own) {
  const auto p = tiny_problem();
  p->rules.bins = 1;
  std::vector<std::vector<double>> alone;
  for (const double shift : {0., 0.6, 1.1}) {
    const two_level_bath bath({2, 1}, 3, shift, 0.4);
    auto own = std::make_shared<bath_function>();
    own->g0 = bath.table();
    own->g0_frequency = bath.at_frequencies(p->measured.two_particle_frequencies);
    auto single = std::make_shared<problem>(*p);
    single->model.g0 = own->g0;
    single->measured.g0_frequency = own->g0_frequency;
    single->baths.clear();
    chain_state s;
    s.number = std::uint32_t(p->baths.size());
    alone.push_back(run_to_the_end(single, {s}).at(0).bins.at(0).sums);
    p->baths.push_back(std::move(own));
  }
  const auto together = run_to_the_end(p, fresh_chains(3, everyone));
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(together[c].bins.at(0).sums, alone[c]) << "chain " << c;
  EXPECT_NE(alone[0], alone[1]);
  EXPECT_THROW(p->for_chain(3), std::out_of_range) << "a chain without a bath";
}

TEST(chain, that_fails_says_so_and_leaves_the_others_as_they_were) {
  const auto p = tiny_problem();
  for (auto& x : p->measured.g0_frequency) x = std::nan("");
  auto options = on("fiber", 2);
  control c;
  chain_queue queue;
  for (auto& s : fresh_chains(4, everyone)) queue.add(std::move(s));
  queue.close();
  try {
    run_chains(*p, queue, options, c);
    FAIL();
  } catch (const runtime_failure& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("chain "), std::string::npos) << what;
    EXPECT_NE(what.find("measured a value that is not finite"), std::string::npos) << what;
  }
  EXPECT_EQ(c.stop.load(), int(control::finish));
  const auto back = queue.take(10);
  ASSERT_EQ(back.size(), 4u);
  for (const auto& s : back) {
    EXPECT_EQ(s.bins_done, 0u);
    EXPECT_TRUE(s.bins.empty());
  }
}

TEST(chain, walks_as_long_as_its_rules_say) {
  const auto p = tiny_problem();
  p->rules.sweeps_per_measurement = 3;
  p->rules.warm_up_sweeps = 11;
  control c;
  const auto chains = run_all(p, fresh_chains(2, everyone), on("os", 1), c);
  EXPECT_EQ(c.measurements, 2u * 4 * 7);
  EXPECT_EQ(c.sweeps, 2u * (11 + 4 * 7 * 3));
  for (const auto& s : chains) {
    EXPECT_EQ(s.moves.proposed, 4u * 7 * 3 * 8) << "those of the warm-up do not count";
    EXPECT_GT(s.moves.accepted, 0u);
    EXPECT_LE(s.moves.accepted, s.moves.proposed);
    EXPECT_TRUE(s.warm);
  }
}

TEST(bin, holds_the_sums_of_what_its_series_lists) {
  const auto p = some_problem(false, {}, {3, 1});  // an odd ring: weights of both signs
  p->model.g0 = two_level_bath({3, 1}, 3, 0., 0.05).table();
  p->rules.measurements_per_bin = 200;
  p->measured.histogram_size = 12;
  int negative = 0;
  for (const auto& s : run_to_the_end(p, fresh_chains(2, everyone)))
    for (const bin_result& bin : s.bins) {
      const auto layout = layout_of(3, p->measured);
      ASSERT_EQ(bin.series.size(), 200u);
      double sign = 0, order = 0;
      std::vector<double> histogram(12);
      for (const auto& row : bin.series) {
        sign += double(row[0]);
        order += double(row[0]) * double(row[1]);
        histogram[std::min<std::size_t>(std::size_t(row[1]), 11)] += 1;
        negative += row[0] < 0;
        EXPECT_EQ(std::abs(row[0]), 1);
        for (const float x : row) EXPECT_TRUE(std::isfinite(x));
      }
      EXPECT_EQ(bin.sums.at(array_named(layout, "sign").offset), sign);
      EXPECT_EQ(bin.sums.at(array_named(layout, "order").offset), order);
      const std::size_t at = array_named(layout, "histogram").offset;
      for (std::size_t k = 0; k < 12; ++k) EXPECT_EQ(bin.sums.at(at + k), histogram[k]) << "order " << k;
    }
  EXPECT_GT(negative, 0);
}

TEST(bin, lists_no_more_than_fits) {
  const auto p = some_problem(false, {}, {1, 1});
  p->rules.measurements_per_bin = int(series_limit) + 50;
  p->rules.bins = 1;
  p->moves.proposals_per_sweep = 1;
  const auto bin = run_to_the_end(p, fresh_chains(1, everyone)).at(0).bins.at(0);
  EXPECT_EQ(bin.series.size(), series_limit);
  const auto layout = layout_of(1, p->measured);
  EXPECT_EQ(bin.sums.at(array_named(layout, "sign").offset), double(series_limit) + 50) << "sums go on";
}

}  // namespace
}  // namespace plaq::dca
