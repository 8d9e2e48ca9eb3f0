// Electrostatic steps in which particles go through many cells and patches.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "plaq/base/error.hpp"
#include "plaq/pic/conductors.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

/// Electrons, most of which go through some cells in a step, a few through 20.
plan far_plan(int dimensions, int order, int cells, int patches) {
  plan p = periodic(dimensions, order, cells, patches);
  p.electrostatic = true, p.dt = 4;
  p.kinds = {{"electrons", -1e-3, 1, pusher::boris}};
  return p;
}
filling hot() {
  return {.per_cell = 3,
          .drift = [](std::size_t, const double* x) { return std::array{0.3, 0.1 * std::sin(x[0]), 0.2}; },
          .thermal = 0.4};
}

/// The number of particles, and by how much the change of rho in a step is not -div J, over its size, in 1 patch.
TEST(far_ways, lose_nobody_and_leave_their_current) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order) {
      const plan p = far_plan(dimensions, order, dimensions == 3 ? 8 : 12, 2);
      const run found = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
        fill(s, hot());
        s.start();
        const std::array<int, 3> n = p.cells;
        const auto whole = [&](const char* name) {
          std::vector<double> out(std::size_t(n[0] * n[1] * n[2]));
          for (const int patch : s.local()) {
            const block m = s.mesh(patch);
            const auto part = s.field(patch, name);
            std::size_t from = 0;
            for (int k = 0; k < m.cells[2]; ++k)
              for (int j = 0; j < m.cells[1]; ++j)
                for (int i = 0; i < m.cells[0]; ++i)
                  out[std::size_t(m.first[0] + i + n[0] * (m.first[1] + j + n[1] * (m.first[2] + k)))] = part[from++];
          }
          return out;
        };
        s.charge();
        auto before = whole("rho");
        std::vector<double> rows;
        for (int step = 0; step < 3; ++step) {
          const auto row = s.advance(1, true);
          rows.insert(rows.end(), row.begin(), row.end());
          s.charge();
          const auto after = whole("rho");
          const std::array j{whole("jx"), whole("jy"), whole("jz")};
          double most = 0, size = 0;
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
                most = std::max(most, std::abs(sum));
              }
          EXPECT_GT(size, 1e-6);
          EXPECT_LT(most, 1e-10 * size) << dimensions << order;
          before = after;
        }
        return rows;
      });
      ASSERT_EQ(found.said, std::vector<std::string>{""});
      EXPECT_EQ(at(found, p, 2, record::at(0, record::number)), 3.0 * p.cells[0] * p.cells[1] * p.cells[2]);
    }
}

// A free particle is where it should be, around the box many times.
TEST(far_ways, lead_straight_on) {
  plan p = far_plan(2, 1, 12, 3);
  p.kinds[0].charge = 0;
  std::map<double, std::array<double, 2>> begin;  // by weight
  const run found = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    for (const int patch : s.local()) {
      const auto x = places(p, s.mesh(patch), 0, 2, false);
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
    for (const int patch : s.local()) {
      const seen end = s.particles(patch, 0);
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
  EXPECT_EQ(found.said, std::vector<std::string>{""});
}

/// Plates at the sides in x, a conductor that is a cell thick across y in the middle, and a plate that gives off.
plan furnished(wall w) {
  plan p = between(far_plan(2, 2, 14, 3), 0, border::conducting, w, wall::absorbed);
  p.wall_temperature = 0.2, p.potentials[0] = {0.1, -0.2};
  p.conductors.resize(1);
  for (int y = 0; y < p.cells[1]; ++y)
    for (const int x : {9, 10}) p.conductors[0].nodes.push_back(number_of_node(p, {x, y, 0}));
  emitter e{
      .at = {0.7, 1.5, 0}, .normal = {1, 0, 0}, .half_width = 0.6, .weight = 0.004, .temperature = 0.1, .drift = 2};
  e.set_flux({0.5});
  p.emitters = {e};
  return p;
}

TEST(far_ways, same_bits_on_any_ranks_while_patches_move) {
  for (const bool single : {false, true})
    for (const wall w : {wall::reflected, wall::thermal}) {
      const plan p = furnished(w);
      const auto still = [](plasma& s) {
        fill(s, hot());
        s.start();
        return s.advance(8, true);
      };
      const run one = on(1, p, {.backend = "os", .pool = {.workers = 1}, .single = single}, still);
      ASSERT_EQ(one.said, std::vector<std::string>{""});
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

/// Particles all over the box but within the conductor; how many before and behind it.
std::array<double, 2> load_beside_conductor(plasma& s, int per_cell, const std::array<double, 3>& drift,
                                            double thermal) {
  const double h = s.what().spacing(0);
  std::array<double, 2> count{};
  for (const int patch : s.local()) {
    const auto x = places(s.what(), s.mesh(patch), 0, per_cell, false);
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

// What starts before a conductor hits it, however thin it is and however far they go; what starts behind does not.
TEST(far_ways, end_at_the_first_thing_that_they_meet) {
  plan p = furnished(wall::absorbed);
  p.kinds[0].charge = 0, p.emitters.clear();
  std::array<double, 2> began{};
  const run found = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    began = load_beside_conductor(s, 5, {3, 2, 0.5}, 0);
    s.start();
    return s.advance(1, false);
  });
  ASSERT_EQ(found.said, std::vector<std::string>{""});
  EXPECT_GT(began[0], 500);
  EXPECT_EQ(at(found, p, 0, record::at(0, record::absorbed)), began[0]);
  EXPECT_EQ(at(found, p, 0, record::at(0, record::absorbed_weight)), 0.5 * began[0]);
  EXPECT_EQ(at(found, p, 0, record::at(0, record::left) + 1), began[1]);
  EXPECT_EQ(at(found, p, 0, record::at(0, record::number)), 0);
}

// They are counted as the same particles are in steps that are so short that none goes through a cell.
TEST(far_ways, count_as_short_steps_do) {
  plan p = furnished(wall::reflected);
  p.kinds[0].charge = 0, p.emitters.clear();
  std::array<std::array<double, 3>, 2> sums{};
  for (const int parts : {1, 32}) {
    plan q = p;
    q.dt = p.dt / parts;
    const run found = on(1, q, {.pool = {.workers = 1}}, [&](plasma& s) {
      load_beside_conductor(s, 20, {}, 0.2);
      s.start();
      return s.advance(parts, false);
    });
    ASSERT_EQ(found.said, std::vector<std::string>{""});
    auto& sum = sums[parts > 1];
    for (std::size_t row = 0; row < rows_of(found, q); ++row) {
      sum[0] += at(found, q, row, record::at(0, record::absorbed));
      sum[1] += at(found, q, row, record::at(0, record::left) + 1);
      sum[2] = at(found, q, row, record::at(0, record::number));
    }
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_GT(sums[0][0], 300);
  EXPECT_GT(sums[0][2], 300);
}

// An electron at rest in a field from outside: u = -E t, in every direction, and with images of nothing at walls.
TEST(outside, fields_are_felt) {
  plan p = between(periodic(2, 2, 9, 2), 0, border::conducting, wall::reflected, wall::reflected);
  p.electrostatic = true, p.dt = 0.05;
  p.kinds = {{"probes", -1e-12, 1e-12, pusher::boris}};
  const run found = on(2, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    fill(s, {.per_cell = 2, .even = true, .thermal = 0});
    for (const int patch : s.local()) {
      const std::size_t n = s.mesh(patch).size();
      std::vector<double> e(3 * n);
      for (std::size_t c = 0; c < 3; ++c) std::fill_n(e.begin() + std::ptrdiff_t(c * n), n, 0.01 * (double(c) + 1));
      s.set_outside(patch, e);
      EXPECT_THROW(s.set_outside(patch, std::vector<double>(3)), input_error);
    }
    s.start();
    auto rows = s.advance(20, true);
    for (const int patch : s.local()) {
      const seen there = s.particles(patch, 0);
      for (std::size_t i = 0; i < there.u.size(); ++i)
        EXPECT_NEAR(there.u[i], -0.01 * (double(i % 3) + 1) * 19.5 * p.dt, 1e-9);
      for (const double e : s.field(patch, "ey")) EXPECT_NEAR(e, 0.02, 1e-9);
    }
    return rows;
  });
  EXPECT_EQ(found.said, std::vector<std::string>(2));
  EXPECT_LT(at(found, p, 19, record::gauss(p)), 1e-14);
}

// Where a run fails it says in which of its steps, on all ranks.
TEST(far_ways, errors_tell_the_step) {
  plan p = far_plan(1, 1, 12, 2);
  p.dt = 1;
  p.kinds[0].charge = -1;
  const run found = on(2, p, {.pool = {.workers = 1}}, [](plasma& s) {
    fill(s, {.per_cell = 1, .thermal = 0});
    for (const int patch : s.local())
      s.set_outside(patch, std::vector<double>(3 * s.mesh(patch).size(), 5e153));  // u^2 overflows with the third
    s.start();
    return s.advance(9, false);
  });
  for (const auto& said : found.said)
    EXPECT_NE(said.find(", step 3 'push': species \"electrons\": "), std::string::npos) << said;
}

}  // namespace
}  // namespace plaq::pic
