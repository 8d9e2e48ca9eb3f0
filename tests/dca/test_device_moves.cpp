// Moves of a chain on a device, one by one on the host: vertex moves against the reference, worms against those of the
// workers, and N after every move against its definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "host_chain.hpp"
#include "plaq/dca/device/vertex_moves.hpp"
#include "plaq/dca/device/worm.hpp"
#include "plaq/dca/walk/spin_worm.hpp"
#include "plaq/dca/walk/walker.hpp"

namespace plaq::dca::device {
namespace {

constexpr stream_id proposals{11, 1, 0, 0, 0, 0}, worms{11, 5, 0, 0, 0, 0};

std::vector<vertex> vertices_of(const matrices<team>& m) {
  std::vector<vertex> out;
  for (int i = 0; i < m.order; ++i) out.push_back({m.r.site[i], m.r.spin[i], m.r.tau[i]});
  return out;
}

void expect_same_vertices(const std::vector<vertex>& a, const std::vector<vertex>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].site, b[i].site) << i;
    EXPECT_EQ(a[i].spin, b[i].spin) << i;
    EXPECT_EQ(a[i].tau, b[i].tau) << i;
  }
}

/// N and the sign of the present vertices against determinants from scratch.
void expect_exact(const matrices<team>& m, const exact_model& model) {
  const auto v = vertices_of(m);
  const auto n = model.n(v);
  EXPECT_EQ(m.sign, model.sign(v));
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < m.order; ++i)
      for (int j = 0; j < m.order; ++j)
        EXPECT_NEAR(m.n(side, i, j), n[std::size_t(side)](i, j), 1e-7 * (1 + std::abs(n[std::size_t(side)](i, j))));
}

struct device_moves : device_kernels {
  device_moves() {
    EXPECT_TRUE(m.recompute());
    chain.rules.longest_worm = 60;
  }
  host_chain fresh(const std::vector<vertex>& v = some_vertices) const {
    host_chain out(model, v);
    out.rules.longest_worm = chain.rules.longest_worm;
    EXPECT_TRUE(out.m->recompute());
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(K, device_moves, testing::Values(1., -5.),
                         [](const auto& K) { return K.param > 0 ? "positive" : "negative"; });

// Vertex moves
// ---------------------------------------------------------------------------------------------------------------------

std::vector<vertex> by_time(std::vector<vertex> v) {
  std::ranges::sort(v, {}, &vertex::tau);
  return v;
}

TEST_P(device_moves, of_vertices_decide_like_the_reference) {
  reference::walker slow(model.parameters, *model.g0);
  vertex_moves<team> moves(m);
  int accepted = 0;
  for (int block = 0; block < 30; ++block) {
    ASSERT_LE(m.order + host_chain::block, host_chain::capacity);
    const auto first = std::uint64_t(block) * host_chain::block;
    slow.block(proposals, first, host_chain::block, vertices_of(m));
    accepted += moves.block(proposals, first, host_chain::block);
    expect_same_vertices(by_time(vertices_of(m)), by_time(slow.vertices));
    ASSERT_EQ(m.sign, slow.sign) << "after block " << block;
    ASSERT_EQ(accepted, slow.accepted);
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(slow.taken_back, 0) << "vertices that were inserted in the same block";
  expect_exact(m, model);
}

TEST_P(device_moves, of_vertices_number_them_like_the_walker) {
  walker<double> slow(model.parameters, model.g0, host_chain::block);
  slow.reset({some_vertices, 1});
  vertex_moves<team> moves(m);
  for (int block = 0; block < 20; ++block) {
    const auto first = std::uint64_t(block) * host_chain::block;
    moves.block(proposals, first, host_chain::block);
    slow.propose(proposals, first, host_chain::block);
    expect_same_vertices(vertices_of(m), slow.current().vertices);
    ASSERT_EQ(m.sign, slow.current().sign);
  }
}

TEST_P(device_moves, of_vertices_leave_N_exact_after_every_proposal) {
  vertex_moves<team> moves(m);
  int inserted = 0, removed = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const int before = m.order;
    const int accepted = moves.block(proposals, i, 1);
    EXPECT_EQ(std::abs(m.order - before), accepted);
    (m.order > before ? inserted : removed) += accepted;
    if (accepted) expect_exact(m, model);
  }
  EXPECT_GT(inserted, 3);
  EXPECT_GT(removed, 3);
}

TEST_P(device_moves, of_vertices_do_not_depend_on_fast_memory) {
  host_chain other = fresh();
  vertex_moves<team> moves(m), other_moves(*other.m);
  std::vector<std::byte> fast(100'000);
  for (std::uint64_t i = 0; i < 10; ++i) {
    other.m->fast = {fast.data(), 100 * (std::size_t(1) << i)};
    EXPECT_EQ(moves.block(proposals, 50 * i, 11), other_moves.block(proposals, 50 * i, 11));
    for (int j = 0; j < m.order; ++j) EXPECT_EQ(m.n(0, 0, j), other.m->n(0, 0, j));
  }
  expect_same_vertices(vertices_of(m), vertices_of(*other.m));
  EXPECT_EQ(m.sign, other.m->sign);
}

TEST_P(device_moves, of_vertices_begin_without_vertices) {
  host_chain empty = fresh({});
  matrices<team>& e = *empty.m;
  EXPECT_EQ(e.sign, 1);
  walker<double> slow(model.parameters, model.g0, 3);
  slow.reset({});
  vertex_moves<team> moves(e);
  for (int block = 0; block < 10; ++block) {
    moves.block(proposals, std::uint64_t(block) * 3, 3);
    slow.propose(proposals, std::uint64_t(block) * 3, 3);
    expect_same_vertices(vertices_of(e), slow.current().vertices);
  }
  EXPECT_GT(e.order, 0);
  expect_exact(e, model);
}

TEST_P(device_moves, of_no_proposals_change_nothing) {
  vertex_moves<team> moves(m);
  EXPECT_EQ(moves.block(proposals, 0, 0), 0);
  expect_same_vertices(vertices_of(m), some_vertices);
  expect_exact(m, model);
}

TEST_P(device_moves, that_are_rejected_leave_every_bit_of_N) {
  int rejected = 0;
  for (std::uint64_t i = 0; i < 120; ++i) {
    host_chain one = fresh();
    const std::vector<double> n(one.m->r.n[0], one.m->r.n[0] + host_chain::capacity * 5);
    vertex_moves<team> single(*one.m);
    if (single.block(proposals, i, 1)) continue;
    ++rejected;
    EXPECT_EQ(std::vector<double>(one.m->r.n[0], one.m->r.n[0] + host_chain::capacity * 5), n);
    expect_same_vertices(vertices_of(*one.m), some_vertices);
    EXPECT_EQ(one.m->sign, m.sign);
  }
  EXPECT_GT(rejected, 5);
}

TEST_P(device_moves, flip_a_site_like_the_walker) {
  int accepted = 0, rejected = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    host_chain one = fresh();
    walker<double> slow(model.parameters, model.g0, 8);
    slow.reset({some_vertices, 1});
    const bool flipped = slow.flip_site(proposals, number);
    ASSERT_TRUE(vertex_moves<team>(*one.m).flip_site(proposals, number));
    expect_same_vertices(vertices_of(*one.m), slow.current().vertices);
    expect_exact(*one.m, model);
    (flipped ? accepted : rejected) += 1;
  }
  EXPECT_GT(accepted, 5);
  EXPECT_GT(rejected, 0);
}

TEST_P(device_moves, flip_all_spins_of_one_site_or_none) {
  for (std::uint64_t number = 0; number < 40; ++number) {
    host_chain one = fresh();
    ASSERT_TRUE(vertex_moves<team>(*one.m).flip_site(proposals, number));
    const int site = int(below(random_words(proposals, number)[3], 4));
    const auto after = vertices_of(*one.m);
    std::set<int> factors;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const int factor = after[i].spin * some_vertices[i].spin;
      if (after[i].site == site)
        factors.insert(factor);
      else
        EXPECT_EQ(factor, 1) << "a vertex of another site";
    }
    EXPECT_LE(factors.size(), 1u);
  }
}

TEST_P(device_moves, fail_where_the_flipped_N_is_not_finite) {
  int failed = 0;
  for (std::uint64_t number = 0; number < 40; ++number) {
    host_chain one = fresh();
    one.m->g_equal = NAN;  // only the recomputation reads it
    failed += !vertex_moves<team>(*one.m).flip_site(proposals, number);
  }
  EXPECT_GT(failed, 5);
}

// Worms
// ---------------------------------------------------------------------------------------------------------------------

/// Sends worms through chains of these vertices, on the device and by the workers' class; returns how many closed.
int compare_worms(const exact_model& model, const std::vector<vertex>& v, int longest, int walks) {
  const auto n = model.n(v);
  int closed = 0;
  for (int walk = 0; walk < walks; ++walk) {
    host_chain one(model, v);
    one.rules.longest_worm = longest;
    EXPECT_TRUE(one.m->recompute());
    const auto first = std::uint64_t(walk) * std::uint64_t(longest + 1);
    dca::spin_worm slow(model.parameters, model.g0);
    auto expected = v;
    if (slow.walk<double>(v, {&n[0], &n[1]}, worms, first, longest)) {
      ++closed;
      for (const int i : slow.flipped_vertices()) expected[std::size_t(i)].spin *= -1;
    }
    EXPECT_TRUE(worm<team>(*one.m).send(worms, first));
    expect_same_vertices(vertices_of(*one.m), expected);
    expect_exact(*one.m, model);
  }
  return closed;
}

TEST_P(device_moves, of_worms_flip_the_spins_that_those_of_the_workers_flip) {
  EXPECT_GT(compare_worms(model, some_vertices, 60, 400), 5);
}

TEST_P(device_moves, of_worms_agree_through_many_vertices) {
  auto v = model.warm();
  ASSERT_GT(v.size(), 5u);
  v.resize(std::min<std::size_t>(v.size(), 40));
  EXPECT_GT(compare_worms(model, v, 80, 300), 3);
}

TEST(device_worm, on_one_site_walks_through_time_alone) {
  const exact_model atom{{2., 4., 1, 1.}, two_level_bath({1, 1}, 2., 0.3, 0.4).table()};
  const std::vector<vertex> v = {{0, 1, 0.3}, {0, -1, 0.8}, {0, 1, 1.5}, {0, 1, 1.9}};
  EXPECT_GT(compare_worms(atom, v, 40, 80), 5);
}

TEST(device_worm, on_two_sites_hops_to_the_other_one) {
  const exact_model pair{{2., 4., 2, 1.}, two_level_bath({2, 1}, 2., 0.5, 0.4).table()};
  const std::vector<vertex> v = {{0, 1, 0.3}, {1, 1, 0.5}, {0, -1, 1.1}, {1, 1, 1.7}};
  EXPECT_GT(compare_worms(pair, v, 40, 80), 5);
}

TEST_P(device_moves, of_worms_without_steps_never_close) { EXPECT_EQ(compare_worms(model, some_vertices, 0, 20), 0); }

TEST_P(device_moves, of_worms_find_nothing_to_flip_without_vertices) {
  host_chain empty = fresh({});
  EXPECT_TRUE(worm<team>(*empty.m).send(worms, 0));
  EXPECT_EQ(empty.m->order, 0);
  EXPECT_EQ(empty.m->sign, 1);
}

TEST_P(device_moves, of_worms_that_do_not_close_leave_N_and_the_sign) {
  int unchanged = 0;
  for (std::uint64_t walk = 0; walk < 40; ++walk) {
    host_chain one = fresh();
    const double sign = one.m->sign;
    ASSERT_TRUE(worm<team>(*one.m).send(worms, 61 * walk));
    const auto after = vertices_of(*one.m);
    if (!std::ranges::equal(after, some_vertices, {}, &vertex::spin, &vertex::spin)) continue;
    ++unchanged;
    for (int side = 0; side < 2; ++side)
      for (int j = 0; j < 5; ++j)
        for (int i = 0; i < 5; ++i) EXPECT_NEAR(one.m->n(side, i, j), m.n(side, i, j), 1e-12);
    EXPECT_EQ(one.m->sign, sign);
  }
  EXPECT_GT(unchanged, 5);
}

}  // namespace
}  // namespace plaq::dca::device
