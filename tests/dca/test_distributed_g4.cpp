// Runs on any number of ranks. The oracle: every rank also runs all chains by itself, all rows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "plaq/comm/job/world.hpp"
#include "plaq/dca/solver.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

const comm::communicator& world() {
  static const comm::communicator w = comm::world();
  return w;
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// This rank's shares of a bin against the whole.
void compare(const problem& p, const std::vector<double>& whole, const std::vector<double>& mine, portion s) {
  const int sites = p.model.parameters.sites;
  const auto bin = layout_of(sites, p.measured), all = two_particle_layout(sites, p.measured), own = share_of(all, s);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t before = array_named(bin, all[i].name).offset;
    for (int r = 0; r < s.part; ++r) before += share_of(all, {r, s.of})[i].size();
    EXPECT_TRUE(same_bits(std::span(mine).subspan(own[i].offset, own[i].size()),
                          std::span(whole).subspan(before, own[i].size())))
        << own[i].name;
  }
  EXPECT_EQ(mine.size(), total_size(own));
}

void run_and_compare(
    std::shared_ptr<const problem> p, int chains, auto&& rank_of, const run_options& options,
    void (*prepare)(chain_state&) = [](chain_state&) {}) {
  const auto begin = [&](auto&& here) {
    auto out = fresh_chains(chains, here);
    for (chain_state& s : out) prepare(s);
    return out;
  };
  control c;
  const auto alone = run_all(p, begin([](int) { return true; }), options, c);

  comm::messenger messages(world());
  std::vector<int> ranks;
  for (int i = 0; i < chains; ++i) ranks.push_back(rank_of(i));
  distributed_g4 shares(messages, p->model, p->measured, ranks);
  const auto here =
      run_all(p, begin([&](int i) { return ranks[std::size_t(i)] == world().rank(); }), options, c, &shares);

  std::size_t next = 0;
  bool followed = false;
  for (int i = 0; i < chains; ++i) {
    const auto& whole = alone[std::size_t(i)].bins;
    followed = followed || (!shares.is_local(i) && !whole.empty());
    ASSERT_EQ(shares.bins[std::size_t(i)].size(), whole.size());
    for (std::size_t b = 0; b < whole.size(); ++b)
      compare(*p, whole[b].sums, shares.bins[std::size_t(i)][b], shares.share());
    if (!shares.is_local(i)) continue;
    EXPECT_EQ(here[next].measuring_seconds > 0, !whole.empty());
    EXPECT_GE(here[next].walking_seconds, 0);
    const auto& mine = here[next++].bins;
    ASSERT_EQ(mine.size(), whole.size());
    for (std::size_t b = 0; b < whole.size(); ++b)
      EXPECT_TRUE(same_bits(mine[b].sums, std::span(whole[b].sums).first(mine[b].sums.size())));
  }
  EXPECT_EQ(shares.remote_seconds > 0, followed);
}

TEST(distributed_g4, has_the_bits_of_chains_without_it) {
  const int p = world().size();
  const auto pair = some_problem(true, {});
  const auto all = some_problem(
      true, {{channel::pp, 1, 1}, {channel::magnetic, 3, 0}, {channel::charge, 0, -1}, {channel::magnetic, 2, 0}});
  for (const char* backend : {"fiber", "os"}) {
    run_options options;
    options.backend = backend;
    options.pool.workers = 1;
    run_and_compare(pair, 3, [&](int c) { return c % p; }, options);
    options.pool.workers = 2;
    run_and_compare(all, 2, [&](int) { return p - 1; }, options);  // others run none
  }
}

TEST(distributed_g4, measures_on_the_workers_what_walks_on_a_device) {
  const auto p = some_problem(true, {{channel::magnetic, 1, 0}});
  const int chains = 2;
  const auto rank_of = [](int chain) { return chain % world().size(); };
  control c;
  run_options there;
  there.devices = {{gpu::device::host}};
  const auto expected = run_all(p, fresh_chains(chains, [](int) { return true; }), {}, c);
  comm::messenger messages(world());
  distributed_g4 shares(messages, p->model, p->measured, {rank_of(0), rank_of(1)});
  run_all(p, fresh_chains(chains, [&](int i) { return shares.is_local(i); }), there, c, &shares);
  const bin_layout bin = layout_of(4, p->measured), all = two_particle_layout(4, p->measured);
  for (int i = 0; i < chains; ++i)
    for (std::size_t b = 0; b < 2; ++b) {
      const auto& found = shares.bins[std::size_t(i)].at(b);
      std::size_t at = 0;
      for (const bin_array& function : all) {
        const std::size_t row = function.size() / function.rows();
        const double* whole = expected[std::size_t(i)].bins.at(b).sums.data() + array_named(bin, function.name).offset;
        for (std::size_t x = row * shares.share().begin(function.rows()); x < row * shares.share().end(function.rows());
             ++x, ++at)
          ASSERT_NEAR(found.at(at), whole[x], 1e-4 * (1 + std::abs(whole[x]))) << function.name;
      }
      EXPECT_EQ(at, found.size());
    }
}

TEST(distributed_g4, there_may_be_more_ranks_than_rows) {
  const auto p = some_problem(true, {}, {1, 1});
  run_and_compare(p, 2, [&](int) { return 0; }, {});  // 3 rows: on 4 ranks one has none
}

TEST(distributed_g4, chains_may_differ_in_their_bins) {
  const auto p = some_problem(true, {{channel::magnetic, 1, 0}});
  run_and_compare(
      p, 3, [&](int c) { return c % world().size(); }, {},
      [](chain_state& s) {
        s.bins_done = std::uint32_t(s.number % 3);  // the others were done before; the last chain is complete
      });
}

TEST(distributed_g4, a_chain_that_fails_ends_for_all) {
  auto p = some_problem(true, {{channel::charge, 1, 0}});
  p->measured.g0_frequency[1] = NAN;
  const int chains = world().size();
  control c;
  comm::messenger messages(world());
  distributed_g4 shares(messages, p->model, p->measured, std::vector<int>(std::size_t(chains), 0));
  const auto run = [&] { run_all(p, fresh_chains(chains, [&](int i) { return shares.is_local(i); }), {}, c, &shares); };
  if (world().rank() == 0)
    EXPECT_THROW(run(), runtime_failure);
  else
    run();
  for (const auto& bins : shares.bins) EXPECT_TRUE(bins.empty());
}

TEST(distributed_g4, refuses_chains_on_ranks_that_do_not_exist) {
  const auto p = some_problem(true, {});
  comm::messenger messages(world());
  for (const int rank : {-1, world().size()})
    EXPECT_THROW(distributed_g4(messages, p->model, p->measured, {0, rank}), runtime_failure) << rank;
}

TEST(distributed_g4, refuses_functions_that_do_not_fit_the_cluster) {
  comm::messenger messages(world());
  const auto refused = [&](auto&& change) {
    const auto p = some_problem(true, {{channel::magnetic, 1, 0}});
    change(*p);
    EXPECT_THROW(distributed_g4(messages, p->model, p->measured, {0}), runtime_failure);
  };
  refused([](problem& p) { p.measured.g0_frequency.pop_back(); });
  refused([](problem& p) { p.measured.orbit.pop_back(); });
  refused([](problem& p) { p.measured.orbit[3] = -1; });
  refused([](problem& p) { p.measured.window = 5; });
  refused([](problem& p) { p.measured.channels[0].transfer = 4; });
  refused([](problem& p) { p.measured.channels[0].bosonic = -2; });
  refused([](problem& p) { p.model.momenta.minus.pop_back(); });
}

TEST(distributed_g4, sends_each_row_of_pairing_to_the_ranks_that_sum_it) {
  const auto p = some_problem(true, {});
  comm::messenger messages(world());
  const distributed_g4 shares(messages, p->model, p->measured, {0});
  const std::size_t head = 2, row = 2 * 4, rows = 16 * 3;  // pairs x window
  std::size_t floats = 0;
  for (int rank = 0; rank < world().size(); ++rank) floats += shares.bytes_for(rank) / sizeof(float) - head;
  EXPECT_GE(floats, 4 * row * rows);
  if (world().size() == 1) {
    EXPECT_EQ(floats, 4 * row * rows) << "no row beyond the window";
  }
}

TEST(distributed_g4, without_chains_has_no_bins) {
  const auto p = some_problem(true, {});
  comm::messenger messages(world());
  distributed_g4 shares(messages, p->model, p->measured, {});
  control c;
  EXPECT_TRUE(run_all(p, {}, {}, c, &shares).empty());
  EXPECT_EQ(shares.chains(), 0);
  EXPECT_TRUE(shares.bins.empty());
  EXPECT_EQ(c.measurements, 0u);
}

TEST(distributed_g4, refuses_more_chains_than_there_are_tags) {
  const auto p = some_problem(true, {}, {1, 1});
  comm::messenger messages(world());
  const std::vector<int> most(std::size_t(comm::last_tag) + 1);
  EXPECT_NO_THROW(distributed_g4(messages, p->model, p->measured, most));
  EXPECT_THROW(distributed_g4(messages, p->model, p->measured, std::vector<int>(most.size() + 1)), runtime_failure);
}

TEST(distributed_g4, knows_the_rank_of_every_chain_and_its_own_rows) {
  const auto p = some_problem(true, {});
  comm::messenger messages(world());
  std::vector<int> ranks;
  for (int chain = 0; chain < 5; ++chain) ranks.push_back((2 * chain) % world().size());
  const distributed_g4 shares(messages, p->model, p->measured, ranks);
  EXPECT_EQ(shares.chains(), 5);
  for (int chain = 0; chain < 5; ++chain)
    EXPECT_EQ(shares.is_local(chain), ranks[std::size_t(chain)] == world().rank()) << chain;
  EXPECT_EQ(shares.share().part, world().rank());
  EXPECT_EQ(shares.share().of, world().size());
  EXPECT_EQ(shares.bins.size(), 5u);
  EXPECT_EQ(shares.remote_seconds, 0);
}

TEST(distributed_g4, sends_no_rank_more_than_both_spins_functions) {
  const auto p = some_problem(true, {{channel::magnetic, 1, 0}});
  comm::messenger messages(world());
  const distributed_g4 shares(messages, p->model, p->measured, {0});
  const std::size_t F = 4, plane = 16 * 2 * F * F, direct = 8 * 4 * 3, head = 2;
  std::size_t largest = 0;
  for (int rank = 0; rank < world().size(); ++rank) {
    EXPECT_LE(shares.bytes_for(rank), sizeof(float) * (head + direct + 4 * plane));
    largest = std::max(largest, shares.bytes_for(rank));
  }
  EXPECT_GT(largest, sizeof(float) * (head + direct)) << "rows beside the direct parts";
}

TEST(distributed_g4, a_stopped_chain_ends_for_all) {
  const auto p = some_problem(true, {});
  const int chains = 2 * world().size();
  control c;
  c.stop = control::abandon;
  comm::messenger messages(world());
  std::vector<int> ranks;
  for (int i = 0; i < chains; ++i) ranks.push_back(i / 2);
  distributed_g4 shares(messages, p->model, p->measured, ranks);
  run_all(p, fresh_chains(chains, [&](int i) { return shares.is_local(i); }), {}, c, &shares);
  for (const auto& bins : shares.bins) EXPECT_TRUE(bins.empty());
}

}  // namespace
}  // namespace plaq::dca
