// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <cstring>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/solver/solver.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

using stop_reason = solver_result::stop_reason;

const coordinates extents{8, 8, 4, 4};
const wilson_parameters twisted{.kappa = 0.14, .mu = 0.1, .theta = {1, 0, 0.3, 0}};
const wilson_parameters with_clover{.kappa = 0.13, .mu = 0.05, .theta = {1, 0, 0, 0}, .csw = 1.2};

/// Aggregates of three levels.
const std::vector<coordinates> three_levels{{2, 2, 1, 1}, {2, 2, 2, 2}};

/// Grids whose boxes hold whole aggregates, of two levels or of three.
std::vector<coordinates> fitting(const std::vector<coordinates>& boxes = {choose_aggregates(extents)}) {
  auto list = grids(extents);
  std::erase_if(list, [&](const coordinates& grid) {
    for (int mu = 0; mu < 4; ++mu) {
      int sites = extents[mu] / grid[mu];
      for (const auto& box : boxes) {
        if (sites % box[mu]) return true;
        sites /= box[mu];
      }
    }
    return false;
  });
  return list;
}

struct problem {
  problem(rank_context& ranks, const coordinates& grid, int rank, int lanes, const wilson_parameters& p)
      : gauge(std::make_shared<site_layout>(lattice(extents, grid, rank), std::min(lanes, max_lanes<double>()))) {
    hot_start(gauge, 3);
    for (std::uint32_t sweep = 0; sweep < 3; ++sweep) heat_bath(ranks.ctx, gauge, {6.0}, {1, 0, sweep});
    M.emplace(ranks.ctx, gauge, p, gauge.shared_layout());
    inverse.emplace(*M);
  }
  links<double> gauge;
  std::optional<wilson<double>> M;
  std::optional<solver<wilson<double>>> inverse;
};

/// Noise on each aggregate of the whole lattice, the same for any ranks.
coarse_vector noise(multigrid& grids, std::uint32_t number) {
  spinors<float> f(grids.layout());
  gaussian(f, 8, number);
  return grids.restrict(f);
}

TEST(aggregates, are_near_to_four_sites_and_even_in_number) {
  EXPECT_EQ(choose_aggregates({8, 16, 48, 4}), (coordinates{4, 4, 4, 2}));
  EXPECT_EQ(choose_aggregates({12, 6, 2, 10}), (coordinates{3, 3, 1, 5}));
}

TEST(aggregates, that_do_not_fit_are_refused) {
  const lattice on({8, 8, 8, 8});
  EXPECT_THROW(aggregation(on, {3, 4, 4, 4}), input_error);
  EXPECT_THROW(aggregation(on, {8, 4, 4, 4}), input_error);
  EXPECT_THROW(aggregation(on, {-4, 4, 4, 4}), input_error);
  EXPECT_THROW(aggregation(aggregation(on, {2, 2, 2, 4}), {2, 2, 2, 2}), input_error);
}

TEST(aggregates, have_each_site_once_even_ones_first) {
  const auto layout = std::make_shared<site_layout>(lattice({12, 6, 4, 2}), 4);
  const aggregation aggregates(layout->lattice(), {3, 3, 2, 1});
  const spinor_slots slots(layout, aggregates);
  std::vector<int> visits(layout->lattice().volume());
  for (std::int64_t a = 0; a < aggregates.count(); ++a)
    for (auto s = aggregates.slots(a); s < aggregates.slots(a + 1); ++s) {
      const auto& x = aggregates.site(s);
      ++visits[index_in(x, layout->lattice().extents)];
      EXPECT_EQ(parity(x), s >= aggregates.odd_slots(a));
      EXPECT_EQ(aggregates.slot(x), s);
      EXPECT_EQ(
          index_in(layout->coordinates_of(slots.location(s).group, slots.location(s).lane), layout->lattice().extents),
          index_in(x, layout->lattice().extents));
    }
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}

TEST(multigrid, has_the_matrix_between_its_vectors_on_the_coarse_lattice) {
  rank_context ranks(world());
  for (const auto& quarks : {twisted, with_clover})
    for (const auto& grid : fitting()) {
      if (quarks.csw && grid != fitting().front()) continue;  // the clover term sends nothing
      problem p(ranks, grid, world().rank(), 16, quarks);
      auto& grids = p.inverse->set_up({.rounds = 1});
      ranks.ctx.workers.run("test", [&] {
        wilson<float> M(*p.M, grids.layout());
        const auto x = noise(grids, 1);
        spinors<float> fine(grids.layout()), Mfine(fine);
        grids.prolong(fine, x);
        // Columns of V are orthonormal.
        auto off = grids.restrict(fine);
        add(ranks.ctx, off, -1, x);
        EXPECT_LT(norm2(ranks.ctx, off), 1e-11 * norm2(ranks.ctx, x));
        M.apply(Mfine, fine);
        off = grids.restrict(Mfine);
        auto Mx = x;
        grids.below().matrix().apply(Mx, x);
        add(ranks.ctx, off, -1, Mx);
        EXPECT_LT(norm2(ranks.ctx, off), 1e-10 * norm2(ranks.ctx, Mx)) << to_string(grid);
        // Prolongation to odd sites alone.
        spinors<float> odd(grids.layout(), sites::odd);
        grids.prolong(odd, x);
        EXPECT_EQ(std::memcmp(odd.data(), fine.of(1), odd.size() * sizeof(float)), 0);
      });
    }
}

TEST(multigrid, has_the_matrix_between_the_vectors_of_each_level_on_the_one_below) {
  rank_context ranks(world());
  for (const auto& grid : fitting(three_levels)) {
    problem p(ranks, grid, world().rank(), 16, with_clover);
    auto& grids = p.inverse->set_up({.boxes = three_levels, .rounds = 0});
    ranks.ctx.workers.run("test", [&] {
      auto& level = grids.below();
      ASSERT_NE(level.below(), nullptr);
      EXPECT_EQ(level.below()->below(), nullptr);
      const auto x = level.restrict(noise(grids, 1));
      auto above = level.matrix().vector(), M_above = above;
      level.prolong(above, x);
      auto off = level.restrict(above), Mx = x;
      add(ranks.ctx, off, -1, x);
      EXPECT_LT(norm2(ranks.ctx, off), 1e-11 * norm2(ranks.ctx, x));
      level.matrix().apply(M_above, above);
      off = level.restrict(M_above);
      level.below()->matrix().apply(Mx, x);
      add(ranks.ctx, off, -1, Mx);
      EXPECT_LT(norm2(ranks.ctx, off), 1e-11 * norm2(ranks.ctx, Mx)) << to_string(grid);
    });
  }
}

TEST(multigrid, keeps_hermiticity_with_gamma5) {
  rank_context ranks(world());
  if (fitting().empty()) return;
  problem p(ranks, fitting()[0], world().rank(), 16, {.kappa = 0.14, .theta = {1, 0, 0, 0}, .csw = 1});
  auto& grids = p.inverse->set_up({.rounds = 1});
  ranks.ctx.workers.run("test", [&] {
    const auto x = noise(grids, 1), y = noise(grids, 2);
    const auto through = [&](const coarse_vector& left, const coarse_vector& right) {
      auto out = right;
      grids.below().matrix().apply(out, right);
      for (std::int64_t a = 0; a < out.count; ++a)
        for (int i = 0; i < out.size; ++i)
          if (i >= out.size / 2) out.row(a)[i] *= -1, out.row(a)[out.size + i] *= -1;
      return dot(ranks.ctx, left, out);
    };
    const auto xy = through(x, y), yx = through(y, x);
    EXPECT_LT(std::abs(xy - std::conj(yx)), 1e-6 * std::sqrt(norm2(ranks.ctx, x) * norm2(ranks.ctx, y)));
    EXPECT_GT(std::abs(xy), 1e-3);
  });
}

TEST(multigrid, solves_on_the_coarse_lattice) {
  rank_context ranks(world());
  if (fitting().empty()) return;
  problem p(ranks, fitting()[0], world().rank(), 16, twisted);
  auto& grids = p.inverse->set_up({.rounds = 1, .cycle = {.coarse_residual = 1e-5}});
  ranks.ctx.workers.run("test", [&] {
    const auto b = noise(grids, 1);
    auto x = b, Mx = b;
    EXPECT_LT(grids.below().solve(x, b), 100);
    grids.below().matrix().apply(Mx, x);
    add(ranks.ctx, Mx, -1, b);
    EXPECT_LT(norm2(ranks.ctx, Mx), 1e-9 * norm2(ranks.ctx, b));
  });
}

TEST(multigrid, needs_fewer_steps_on_a_level_above_another) {
  rank_context ranks(world());
  if (fitting(three_levels).empty()) return;
  problem p(ranks, fitting(three_levels)[0], world().rank(), 16, twisted);
  int steps[2];
  for (const int levels : {2, 3}) {
    auto& grids = p.inverse->set_up({.boxes = {three_levels.begin(), three_levels.begin() + levels - 1},
                                     .rounds = 1,
                                     .cycle = {.coarse_residual = 1e-4}});
    ranks.ctx.workers.run("test", [&] {
      const auto b = noise(grids, 1);
      auto x = b, Mx = b;
      steps[levels - 2] = grids.below().solve(x, b);
      grids.below().matrix().apply(Mx, x);
      add(ranks.ctx, Mx, -1, b);
      EXPECT_LT(norm2(ranks.ctx, Mx), 1e-7 * norm2(ranks.ctx, b));
    });
  }
  EXPECT_LT(steps[1], steps[0] / 2);
}

class levels_of_multigrid : public testing::TestWithParam<std::vector<coordinates>> {};
INSTANTIATE_TEST_SUITE_P(two_or_three, levels_of_multigrid,
                         testing::Values(std::vector{choose_aggregates(extents)}, three_levels));

TEST_P(levels_of_multigrid, solve_as_conjugate_gradient_does_with_the_same_bits_on_any_grid) {
  rank_context single(single_rank());
  problem one(single, {1, 1, 1, 1}, 0, 1, with_clover);
  const auto solve = [](problem& p, spinors<double>& psi, solver_method method) {
    spinors<double> eta(p.M->layout());
    if (method == solver_method::multigrid) p.inverse->set_up({.boxes = GetParam()});
    gaussian(eta, 4);
    return p.inverse->solve(psi, eta, {.method = method, .residual = 1e-9});
  };
  spinors<double> exact(one.M->layout()), expected(exact);
  solve(one, exact, solver_method::cg);
  const auto result = solve(one, expected, solver_method::multigrid);
  EXPECT_EQ(result.reason, stop_reason::converged) << result.to_string();
  EXPECT_LE(result.residual, 1e-9);
  EXPECT_THROW(one.inverse->solve(expected, exact, {.method = solver_method::multigrid, .steps = precision::in_half}),
               input_error);
  spinors<double> off(exact);
  EXPECT_LT(combine_norm2<double>(single.ctx, off, {{1, exact}, {-1, expected}}), 1e-15 * norm2(single.ctx, exact));
  const auto grids = fitting(GetParam());
  if (grids.empty()) return;
  const bool ranks_have_cores = world().size() < 3;  // on few cores threads of many ranks wait for each other
  for (const auto& [lanes, workers, grid] :
       {std::tuple(1, 1, grids.front()), std::tuple(16, ranks_have_cores ? 2 : 1, grids.back())}) {
    rank_context ranks(world(), "fiber", workers);
    problem p(ranks, grid, world().rank(), lanes, with_clover);
    spinors<double> psi(p.M->layout());
    const auto again = solve(p, psi, solver_method::multigrid);
    EXPECT_EQ(again.steps, result.steps);
    EXPECT_EQ(again.residual, result.residual);
    int different = 0;
    for_each_site(*p.M->layout(), [&](const coordinates& x, site_layout::location at) {
      const auto there = one.M->layout()->locate(x + p.M->layout()->lattice().origin());
      for (int i = 0; i < 12; ++i) {
        const auto a = psi.get(at, i), b = expected.get(there, i);
        different += std::memcmp(&a, &b, sizeof a) != 0;
      }
    });
    EXPECT_EQ(different, 0) << to_string(grid) << ", " << lanes << " lanes, " << workers << " workers";
  }
}

}  // namespace
}  // namespace plaq::lqcd
