// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <cstring>

#include "job.hpp"
#include "plaq/base/error.hpp"
#include "plaq/lqcd/gauge.hpp"
#include "plaq/lqcd/random_fields.hpp"
#include "plaq/lqcd/solver.hpp"

namespace plaq::lqcd {
namespace {

using ending = solver_result::ending;
using method = solver_options::method_kind;

const coordinates extents{8, 8, 4, 4};
const wilson_parameters twisted{.kappa = 0.14, .mu = 0.1, .theta = {1, 0, 0.3, 0}};
const wilson_parameters with_clover{.kappa = 0.13, .mu = 0.05, .theta = {1, 0, 0, 0}, .csw = 1.2};

/// Grids whose ranks have whole aggregates.
std::vector<coordinates> fitting() {
  auto found = grids(extents);
  std::erase_if(found, [](const coordinates& grid) {
    const auto box = aggregates_for(extents);
    for (int mu = 0; mu < 4; ++mu)
      if (extents[mu] / grid[mu] % box[mu]) return true;
    return false;
  });
  return found;
}

struct problem {
  problem(job& with, const coordinates& grid, int rank, int lanes, const wilson_parameters& p)
      : gauge(std::make_shared<layout>(lattice(extents, grid, rank), std::min(lanes, widest<double>()))) {
    hot_start(gauge, 3);
    for (std::uint32_t sweep = 0; sweep < 3; ++sweep) heat_bath(with.by, gauge, {6.0}, {1, 0, sweep});
    M.emplace(with.by, gauge, p);
  }
  links<double> gauge;
  std::optional<solver> M;
};

/// Noise on each aggregate of the whole lattice, the same for any ranks.
coarse_vector noise(multigrid& of, std::uint32_t number) {
  spinors<float> f(of.where());
  gaussian(f, 8, number);
  return of.restricted(f);
}

TEST(aggregates, are_near_to_four_sites_and_even_in_number) {
  EXPECT_EQ(aggregates_for({8, 16, 48, 4}), (coordinates{4, 4, 4, 2}));
  EXPECT_EQ(aggregates_for({12, 6, 2, 10}), (coordinates{3, 3, 1, 5}));
}

TEST(aggregates, that_do_not_fit_are_refused) {
  const auto where = std::make_shared<layout>(lattice({8, 8, 8, 8}), 4);
  EXPECT_THROW(aggregates(where, {3, 4, 4, 4}), input_error);
  EXPECT_THROW(aggregates(where, {8, 4, 4, 4}), input_error);
  EXPECT_THROW(aggregates(where, {-4, 4, 4, 4}), input_error);
}

TEST(aggregates, have_each_site_once_even_ones_first) {
  const auto where = std::make_shared<layout>(lattice({12, 6, 4, 2}), 4);
  const aggregates on(where, {3, 3, 2, 1});
  std::vector<int> seen(where->on().volume());
  for (std::int64_t a = 0; a < on.count(); ++a)
    for (auto s = on.slots(a); s < on.slots(a + 1); ++s) {
      const auto& x = on.site(s);
      ++seen[number_in(x, where->on().extents)];
      EXPECT_EQ(parity(x), s >= on.odd_slots(a));
      EXPECT_EQ(on.slot(x), s);
      EXPECT_EQ(number_in(where->site(on.place(s).block, on.place(s).lane), where->on().extents),
                number_in(x, where->on().extents));
    }
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST(multigrid, has_the_matrix_between_its_vectors_on_the_coarse_lattice) {
  job with(world());
  for (const auto& p : {twisted, with_clover})
    for (const auto& grid : fitting()) {
      problem of(with, grid, world().rank(), 16, p);
      auto& grids = of.M->set_up({.rounds = 1});
      with.by.hands.inside("test", [&] {
        wilson<float> M(of.M->matrix(), grids.where());
        const auto x = noise(grids, 1);
        spinors<float> fine(grids.where()), Mfine(fine);
        grids.prolong(fine, x);
        // Columns of V are orthonormal.
        auto off = grids.restricted(fine);
        add(with.by, off, -1, x);
        EXPECT_LT(norm2(with.by, off), 1e-11 * norm2(with.by, x));
        M.apply(Mfine, fine);
        off = grids.restricted(Mfine);
        auto Mx = x;
        grids.coarse().apply(Mx, x);
        add(with.by, off, -1, Mx);
        EXPECT_LT(norm2(with.by, off), 1e-10 * norm2(with.by, Mx)) << in_words(grid);
        // What is nowhere but on odd sites.
        spinors<float> odd(grids.where(), sites::odd);
        grids.prolong(odd, x);
        EXPECT_EQ(std::memcmp(odd.data(), fine.of(1), odd.size() * sizeof(float)), 0);
      });
    }
}

TEST(multigrid, keeps_hermiticity_with_gamma5) {
  job with(world());
  if (fitting().empty()) return;
  problem of(with, fitting()[0], world().rank(), 16, {.kappa = 0.14, .theta = {1, 0, 0, 0}, .csw = 1});
  auto& grids = of.M->set_up({.rounds = 1});
  with.by.hands.inside("test", [&] {
    const auto x = noise(grids, 1), y = noise(grids, 2);
    const auto through = [&](const coarse_vector& left, const coarse_vector& right) {
      auto out = right;
      grids.coarse().apply(out, right);
      for (std::int64_t a = 0; a < out.count; ++a)
        for (int i = 0; i < out.size; ++i)
          if (i >= out.size / 2) out.row(a)[i] *= -1, out.row(a)[out.size + i] *= -1;
      return dot(with.by, left, out);
    };
    const auto one = through(x, y), other = through(y, x);
    EXPECT_LT(std::abs(one - std::conj(other)), 1e-6 * std::sqrt(norm2(with.by, x) * norm2(with.by, y)));
    EXPECT_GT(std::abs(one), 1e-3);
  });
}

TEST(multigrid, solves_on_the_coarse_lattice) {
  job with(world());
  if (fitting().empty()) return;
  problem of(with, fitting()[0], world().rank(), 16, twisted);
  auto& grids = of.M->set_up({.rounds = 1});
  with.by.hands.inside("test", [&] {
    const auto b = noise(grids, 1);
    auto x = b, Mx = b;
    EXPECT_LT(grids.coarse().solve(x, b, 1e-5, 100), 100);
    grids.coarse().apply(Mx, x);
    add(with.by, Mx, -1, b);
    EXPECT_LT(norm2(with.by, Mx), 1e-9 * norm2(with.by, b));
  });
}

TEST(multigrid, finds_what_conjugate_gradient_finds_with_the_same_bits_everywhere) {
  job own(alone());
  const auto& p = with_clover;
  problem one(own, {1, 1, 1, 1}, 0, 1, p);
  const auto solved = [](problem& of, spinors<double>& psi, method kind) {
    spinors<double> eta(of.M->where());
    gaussian(eta, 4);
    return of.M->solve(psi, eta, {.method = kind, .residual = 1e-9});
  };
  spinors<double> exact(one.M->where()), expected(exact);
  solved(one, exact, method::cg);
  const auto found = solved(one, expected, method::multigrid);
  EXPECT_EQ(found.end, ending::converged) << found.in_words();
  EXPECT_LE(found.residual, 1e-9);
  EXPECT_THROW(one.M->solve(expected, exact, {.method = method::multigrid, .steps = precision::in_half}), input_error);
  spinors<double> off(exact);
  EXPECT_LT(combine_norm2<double>(own.by, off, {{1, exact}, {-1, expected}}), 1e-15 * norm2(own.by, exact));
  for (const auto& [lanes, workers] : {std::pair(1, 1), std::pair(16, 2)}) {
    job with(world(), "fiber", workers);
    for (const auto& grid : fitting()) {
      problem of(with, grid, world().rank(), lanes, p);
      spinors<double> psi(of.M->where());
      const auto again = solved(of, psi, method::multigrid);
      EXPECT_EQ(again.steps, found.steps);
      EXPECT_EQ(again.residual, found.residual);
      int different = 0;
      each_site(*of.M->where(), [&](const coordinates& x, layout::place at) {
        const auto there = one.M->where()->where(x + of.M->where()->on().origin());
        for (int i = 0; i < 12; ++i) {
          const auto a = psi.get(at, i), b = expected.get(there, i);
          different += std::memcmp(&a, &b, sizeof a) != 0;
        }
      });
      EXPECT_EQ(different, 0) << in_words(grid) << ", " << lanes << " lanes, " << workers << " workers";
    }
  }
}

}  // namespace
}  // namespace plaq::lqcd
