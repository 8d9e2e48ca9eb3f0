// Electrostatic steps with paths through many cells and patches.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

/// Electrons that mostly cross some cells in a step, a few of them 20.
plan long_path_plan(int dimensions, int order, int cells, int patches) {
  plan p = periodic(dimensions, order, cells, patches);
  p.electrostatic = true, p.dt = 4;
  p.species_list = {{"electrons", -1e-3, 1, pusher::boris}};
  return p;
}
filling hot() {
  return {.per_cell = 3,
          .drift = [](std::size_t, const double* x) { return std::array{0.3, 0.1 * std::sin(x[0]), 0.2}; },
          .thermal = 0.4};
}

// The change of rho in a step is -div J at every node, and no particle is lost.
TEST(long_paths, conserve_charge_and_particles) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order) {
      const plan p = long_path_plan(dimensions, order, dimensions == 3 ? 8 : 12, 2);
      const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
        fill(s, hot());
        s.start();
        const std::array<int, 3> n = p.cells;
        const auto whole = [&](const char* name) {
          std::vector<double> out(std::size_t(n[0] * n[1] * n[2]));
          for (const int patch : s.local_patches()) {
            const patch_grid m = s.mesh(patch);
            const auto part = s.field(patch, name);
            std::size_t from = 0;
            for (int k = 0; k < m.cells[2]; ++k)
              for (int j = 0; j < m.cells[1]; ++j)
                for (int i = 0; i < m.cells[0]; ++i)
                  out[std::size_t(m.first[0] + i + n[0] * (m.first[1] + j + n[1] * (m.first[2] + k)))] = part[from++];
          }
          return out;
        };
        s.compute_charge();
        auto before = whole("rho");
        std::vector<double> rows;
        for (int step = 0; step < 3; ++step) {
          const auto row = s.advance(1, true);
          rows.insert(rows.end(), row.begin(), row.end());
          s.compute_charge();
          const auto after = whole("rho");
          const std::array j{whole("jx"), whole("jy"), whole("jz")};
          double largest = 0, size = 0;
          for (int z = 0; z < n[2]; ++z)
            for (int y = 0; y < n[1]; ++y)
              for (int x = 0; x < n[0]; ++x) {
                const point at{x, y, z};
                const auto index = [&](point i, int d) {
                  if (d >= 0) i[d] = (i[d] + n[d] - 1) % n[d];
                  return std::size_t(i[0] + n[0] * (i[1] + n[1] * i[2]));
                };
                double sum = (after[index(at, -1)] - before[index(at, -1)]) / p.dt;
                size = std::max(size, std::abs(sum));
                for (int d = 0; d < dimensions; ++d)
                  sum += (j[std::size_t(d)][index(at, -1)] - j[std::size_t(d)][index(at, d)]) / p.spacing(d);
                largest = std::max(largest, std::abs(sum));
              }
          EXPECT_GT(size, 1e-6);
          EXPECT_LT(largest, 1e-10 * size) << dimensions << order;
          before = after;
        }
        return rows;
      });
      ASSERT_EQ(result.errors, std::vector<std::string>{""});
      EXPECT_EQ(at(result, p, 2, record::at(0, record::number)), 3.0 * p.cells[0] * p.cells[1] * p.cells[2]);
    }
}

// Free particles move on straight lines, around the box many times.
TEST(long_paths, are_straight_without_fields) {
  plan p = long_path_plan(2, 1, 12, 3);
  p.species_list[0].charge = 0;
  std::map<double, std::array<double, 2>> begin;  // by weight
  const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    for (const int patch : s.local_patches()) {
      const auto x = make_positions(p, s.mesh(patch), 0, 2, false);
      const std::size_t n = x.size() / 2;
      std::vector<double> w(n), drift(3 * n), none(3 * n);
      for (std::size_t i = 0; i < n; ++i) {
        w[i] = patch + (double(i) + 1) / 1024, begin[w[i]] = {x[2 * i], x[2 * i + 1]};
        for (std::size_t c = 0; c < 3; ++c) drift[3 * i + c] = std::sin(40 * w[i] + double(c));
      }
      s.load(patch, 0, {x, w, drift, none, false});
    }
    s.start();
    s.advance(4, false);
    std::size_t all = 0;
    for (const int patch : s.local_patches()) {
      const particle_view end = s.particles(patch, 0);
      for (std::size_t i = 0; i < end.w.size(); ++i, ++all) {
        double g = 1;
        for (std::size_t c = 0; c < 3; ++c) g += end.u[3 * i + c] * end.u[3 * i + c];
        for (std::size_t d = 0; d < 2; ++d) {
          const double to = begin.at(end.w[i])[d] + 4 * p.dt * end.u[3 * i + d] / std::sqrt(g);
          EXPECT_NEAR(std::remainder(end.x[2 * i + d] - to, p.lengths[d]), 0, 1e-11);
        }
      }
    }
    EXPECT_EQ(all, begin.size());
    return std::vector<double>();
  });
  EXPECT_EQ(result.errors, std::vector<std::string>{""});
}

/// Plates at the sides in x, a conductor one cell thick across y in the middle, and an emitting plate.
plan furnished(particle_boundary w) {
  plan p = between(long_path_plan(2, 2, 14, 3), 0, field_boundary::conducting, w, particle_boundary::absorbed);
  p.wall_temperature = 0.2, p.potentials[0] = {0.1, -0.2};
  p.conductors.resize(1);
  for (int y = 0; y < p.cells[1]; ++y)
    for (const int x : {9, 10}) p.conductors[0].nodes.push_back(number_of_node(p, {x, y, 0}));
  emitter e{
      .centre = {0.7, 1.5, 0}, .normal = {1, 0, 0}, .half_width = 0.6, .weight = 0.004, .temperature = 0.1, .drift = 2};
  e.set_flux({0.5});
  p.emitters = {e};
  return p;
}

TEST(long_paths, are_bitwise_identical_on_any_ranks_while_patches_move) {
  for (const bool single : {false, true})
    for (const particle_boundary w : {particle_boundary::reflected, particle_boundary::thermal}) {
      const plan p = furnished(w);
      const auto still = [](plasma& s) {
        fill(s, hot());
        s.start();
        return s.advance(8, true);
      };
      const run one = on(1, p, {.backend = "os", .pool = {.workers = 1}, .single = single}, still);
      ASSERT_EQ(one.errors, std::vector<std::string>{""});
      EXPECT_TRUE(same(one, on(2, p, {.pool = {.workers = 2}, .single = single}, still)));
      EXPECT_TRUE(same(one, on(3, p, {.pool = {.workers = 1}, .single = single}, [](plasma& s) {
                         fill(s, hot());
                         s.start();
                         std::vector<double> rows;
                         for (int step = 0; step < 8; ++step) {
                           const auto row = s.advance(1, true);
                           rows.insert(rows.end(), row.begin(), row.end());
                           s.balance({.by = "longest_first"});
                         }
                         return rows;
                       })));
      EXPECT_GT(at(one, p, 0, record::at(0, record::absorbed)), 50);
      EXPECT_GT(at(one, p, 0, record::at(0, record::left) + 1), 20);
      EXPECT_GT(at(one, p, 7, record::at(0, record::emitted)), 20);
    }
}

/// Loads particles everywhere but within the conductor; returns the numbers before and behind it.
std::array<double, 2> load_beside_conductor(plasma& s, int per_cell, const std::array<double, 3>& drift,
                                            double thermal) {
  const double h = s.parameters().spacing(0);
  std::array<double, 2> count{};
  for (const int patch : s.local_patches()) {
    const auto x = make_positions(s.parameters(), s.mesh(patch), 0, per_cell, false);
    std::vector<double> some, w, mean;
    for (std::size_t i = 0; i < x.size(); i += 2) {
      if (x[i] > 9 * h && x[i] < 10 * h) continue;
      some.insert(some.end(), {x[i], x[i + 1]}), mean.insert(mean.end(), drift.begin(), drift.end()), w.push_back(0.5);
      ++count[x[i] > 9 * h];
    }
    s.load(patch, 0, {some, w, mean, std::vector<double>(mean.size(), thermal), false});
  }
  return count;
}

// A particle that starts before a conductor ends on it, however thin it is; one that starts behind does not.
TEST(long_paths, end_at_the_first_obstacle) {
  plan p = furnished(particle_boundary::absorbed);
  p.species_list[0].charge = 0, p.emitters.clear();
  std::array<double, 2> started{};
  const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    started = load_beside_conductor(s, 5, {3, 2, 0.5}, 0);
    s.start();
    return s.advance(1, false);
  });
  ASSERT_EQ(result.errors, std::vector<std::string>{""});
  EXPECT_GT(started[0], 500);
  EXPECT_EQ(at(result, p, 0, record::at(0, record::absorbed)), started[0]);
  EXPECT_EQ(at(result, p, 0, record::at(0, record::absorbed_weight)), 0.5 * started[0]);
  EXPECT_EQ(at(result, p, 0, record::at(0, record::left) + 1), started[1]);
  EXPECT_EQ(at(result, p, 0, record::at(0, record::number)), 0);
}

// In the short steps no particle crosses a cell.
TEST(long_paths, end_on_the_same_walls_as_many_short_steps) {
  plan p = furnished(particle_boundary::reflected);
  p.species_list[0].charge = 0, p.emitters.clear();
  std::array<std::array<double, 3>, 2> sums{};
  for (const int parts : {1, 32}) {
    plan q = p;
    q.dt = p.dt / parts;
    const run result = on(1, q, {.pool = {.workers = 1}}, [&](plasma& s) {
      load_beside_conductor(s, 20, {}, 0.2);
      s.start();
      return s.advance(parts, false);
    });
    ASSERT_EQ(result.errors, std::vector<std::string>{""});
    auto& sum = sums[parts > 1];
    for (std::size_t row = 0; row < rows_of(result, q); ++row) {
      sum[0] += at(result, q, row, record::at(0, record::absorbed));
      sum[1] += at(result, q, row, record::at(0, record::left) + 1);
      sum[2] = at(result, q, row, record::at(0, record::number));
    }
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_GT(sums[0][0], 300);
  EXPECT_GT(sums[0][2], 300);
}

TEST(long_paths, errors_name_the_step_on_all_ranks) {
  plan p = long_path_plan(1, 1, 12, 2);
  p.dt = 1;
  p.species_list[0].charge = -1;
  for (std::size_t c = 0; c < 3; ++c)  // u^2 overflows with the third step
    p.external.formulas[c] = formula(std::vector<formula::step>{{"", 0, 5e153}}), p.external.unit[c] = 1;
  const run result = on(2, p, {.pool = {.workers = 1}}, [](plasma& s) {
    fill(s, {.per_cell = 1, .thermal = 0});
    s.start();
    return s.advance(9, false);
  });
  for (const auto& error : result.errors)
    EXPECT_NE(error.find(", step 3 'push': species \"electrons\": "), std::string::npos) << error;
}

}  // namespace
}  // namespace plaq::pic
