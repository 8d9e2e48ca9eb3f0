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

/// Grids whose boxes hold whole aggregates.
std::vector<coordinates> fitting() {
  auto list = grids(extents);
  std::erase_if(list, [](const coordinates& grid) {
    const auto box = choose_aggregates(extents);
    for (int mu = 0; mu < 4; ++mu)
      if (extents[mu] / grid[mu] % box[mu]) return true;
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
  const auto layout = std::make_shared<site_layout>(lattice({8, 8, 8, 8}), 4);
  EXPECT_THROW(aggregation(layout, {3, 4, 4, 4}), input_error);
  EXPECT_THROW(aggregation(layout, {8, 4, 4, 4}), input_error);
  EXPECT_THROW(aggregation(layout, {-4, 4, 4, 4}), input_error);
}

TEST(aggregates, have_each_site_once_even_ones_first) {
  const auto layout = std::make_shared<site_layout>(lattice({12, 6, 4, 2}), 4);
  const aggregation aggregates(layout, {3, 3, 2, 1});
  std::vector<int> visits(layout->lattice().volume());
  for (std::int64_t a = 0; a < aggregates.count(); ++a)
    for (auto s = aggregates.slots(a); s < aggregates.slots(a + 1); ++s) {
      const auto& x = aggregates.site(s);
      ++visits[index_in(x, layout->lattice().extents)];
      EXPECT_EQ(parity(x), s >= aggregates.odd_slots(a));
      EXPECT_EQ(aggregates.slot(x), s);
      EXPECT_EQ(index_in(layout->coordinates_of(aggregates.location(s).group, aggregates.location(s).lane),
                         layout->lattice().extents),
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
        grids.coarse().apply(Mx, x);
        add(ranks.ctx, off, -1, Mx);
        EXPECT_LT(norm2(ranks.ctx, off), 1e-10 * norm2(ranks.ctx, Mx)) << to_string(grid);
        // Prolongation to odd sites alone.
        spinors<float> odd(grids.layout(), sites::odd);
        grids.prolong(odd, x);
        EXPECT_EQ(std::memcmp(odd.data(), fine.of(1), odd.size() * sizeof(float)), 0);
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
      grids.coarse().apply(out, right);
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
  auto& grids = p.inverse->set_up({.rounds = 1});
  ranks.ctx.workers.run("test", [&] {
    const auto b = noise(grids, 1);
    auto x = b, Mx = b;
    EXPECT_LT(grids.coarse().solve(x, b, 1e-5, 100), 100);
    grids.coarse().apply(Mx, x);
    add(ranks.ctx, Mx, -1, b);
    EXPECT_LT(norm2(ranks.ctx, Mx), 1e-9 * norm2(ranks.ctx, b));
  });
}

TEST(multigrid, solves_as_conjugate_gradient_does_with_the_same_bits_on_any_grid) {
  rank_context single(single_rank());
  problem one(single, {1, 1, 1, 1}, 0, 1, with_clover);
  const auto solve = [](problem& p, spinors<double>& psi, solver_method method) {
    spinors<double> eta(p.M->layout());
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
  for (const auto& [lanes, workers] : {std::pair(1, 1), std::pair(16, 2)}) {
    rank_context ranks(world(), "fiber", workers);
    for (const auto& grid : fitting()) {
      if (lanes == 1 && grid != fitting().front()) continue;  // the order of sites within a rank
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
}

}  // namespace
}  // namespace plaq::lqcd
