// The simulated clock against formulas that can be written down.
#include <gtest/gtest.h>

#include "plaq/base/error.hpp"
#include "plaq/comm/schedules/simulation.hpp"

namespace {

using namespace plaq::comm;

constexpr double L = 1e-6, o = 1e-7, g = 2e-7, G = 1e-9;
/// One rank on each node, all nodes on one switch.
machine flat_network() {
  machine m{{{1, 0, 0, 0}, {1 << 20, L, g, G}}};
  m.overhead = o;
  return m;
}

double seconds(collective what, method by, int ranks, std::size_t bytes, const machine& on = flat_network()) {
  return simulate({what, 0, bytes, 1}, by, on, ranks).seconds;
}

TEST(simulation, one_message_takes_what_loggp_says) {
  EXPECT_NEAR(seconds(collective::broadcast, {}, 2, 100), o + 100 * G + L + o, 1e-12);
  // Beyond the eager limit the sender asks first: one latency there, one back.
  EXPECT_NEAR(seconds(collective::broadcast, {}, 2, 100000), o + 2 * L + 100000 * G + L + o, 1e-12);
}

TEST(simulation, a_binomial_tree_takes_its_depth) {
  for (int levels = 1; levels <= 6; ++levels) {
    machine on = flat_network();
    on.levels[1].gap = 0;
    EXPECT_NEAR(seconds(collective::broadcast, {algorithm::tree, 2}, 1 << levels, 1, on), levels * (2 * o + L + G),
                1e-12 + levels * o);
  }
}

TEST(simulation, a_flat_root_sends_one_after_the_other) {
  const int ranks = 64;
  EXPECT_NEAR(seconds(collective::broadcast, {algorithm::tree, ranks}, ranks, 10000),
              o + (ranks - 1) * 10000 * G + L + o, 1e-9);
}

TEST(simulation, ranks_of_a_node_share_its_card) {
  // 8 ranks on two nodes; in the last round of a butterfly all four of a node send to the other one.
  const machine on{{{4, 0, 0, 0}, {8, L, 0, G}}};
  EXPECT_NEAR(seconds(collective::all_reduce, {algorithm::butterfly, 2}, 8, 1000, on), 4 * 1000 * G + L, 1e-12);
  const auto tree = simulate({collective::all_reduce, 0, 1000, 1}, {algorithm::tree, 2}, on, 8);
  EXPECT_EQ(tree.between_nodes, 2u);
  EXPECT_EQ(tree.bytes_between_nodes, 2000u);
}

TEST(simulation, a_core_serves_its_ranks_in_turn) {
  machine on{{{8, 0, 0, 0}}};
  on.overhead = o;
  on.cores = 1;
  // 7 messages, sent and received by the one core.
  EXPECT_NEAR(seconds(collective::broadcast, {algorithm::tree, 8}, 8, 1, on), 14 * o, 1e-12);
  on.turn = 1e-5;
  EXPECT_NEAR(seconds(collective::broadcast, {algorithm::tree, 8}, 8, 1, on), 14 * o + 7 * on.turn, 1e-12);
}

TEST(simulation, every_operation_comes_to_an_end) {
  const machine on{{{4, 1e-7, 0, 1e-10}, {16, L, g, G}, {64, 2 * L, g, G}}, o, 1e-10, 100};
  for (int what = 0; what < 10; ++what)
    for (const auto how : algorithms_for(collective(what)))
      for (int ranks : {1, 2, 7, 33})
        for (std::size_t bytes : {1, 1000}) {
          const auto found = simulate({collective(what), 0, bytes, 1}, {how, 3, 64}, on, ranks);
          // Every rank takes part, so all but one hear from another, and somebody waits for a message.
          EXPECT_GE(found.messages, std::uint64_t(ranks - 1)) << what << " " << ranks;
          if (ranks > 1)
            EXPECT_GE(found.seconds, 2 * o + (ranks > 4 ? L : 1e-7)) << what << " " << ranks;
          else
            EXPECT_EQ(found.messages, 0u) << what;
        }
}

TEST(simulation, goes_far_beyond_this_machine) {
  const machine on{
      {{16, 5e-7, 0, 1e-10}, {512, 1e-6, g, 1.5e-10}, {8192, 2e-6, g, 1e-11}, {1 << 20, 3e-6, g, 1e-11}}, o, 1e-10};
  const auto tree = simulate({collective::reduce, 0, 4, 4}, {algorithm::tree, 4}, on, 20000);
  EXPECT_EQ(tree.messages, 19999u);
  EXPECT_EQ(tree.between_nodes, 1249u);
  const auto flat = simulate({collective::reduce, 0, 4, 4}, {algorithm::tree, 2000}, on, 2000);
  EXPECT_LT(tree.seconds, flat.seconds / 10);
}

TEST(simulation, refuses_machines_that_cannot_be) {
  EXPECT_THROW(seconds(collective::barrier, {algorithm::butterfly}, 2, 1, {}), plaq::input_error);
  EXPECT_THROW(seconds(collective::barrier, {algorithm::butterfly}, 2, 1, {{{4, 0, 0, 0}, {6, 0, 0, 0}}}),
               plaq::input_error);
  EXPECT_THROW(seconds(collective::barrier, {algorithm::butterfly}, 0, 1), plaq::input_error);
}

}  // namespace
