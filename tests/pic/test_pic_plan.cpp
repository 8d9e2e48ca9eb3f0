// Plans: their checks, and how they are cut into patches.
#include <gtest/gtest.h>

#include <functional>

#include "plans.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/mesh/record.hpp"

namespace plaq::pic {
namespace {

using namespace test;

std::string error_of(const std::function<void(plan&)>& change) {
  plan p = periodic(2, 2, 12, 3);
  p.check();
  change(p);
  try {
    p.check();
  } catch (const input_error& e) {
    return e.what();
  }
  return "nothing";
}

TEST(pic_plan, names_the_error) {
  EXPECT_EQ(error_of([](plan&) {}), "nothing");
  EXPECT_EQ(error_of([](plan& p) { p.dimensions = 4; }), "a mesh of 4 dimensions: 1, 2 or 3");
  EXPECT_EQ(error_of([](plan& p) { p.order = 4; }), "order = 4: shapes have order 1, 2 or 3");
  EXPECT_EQ(error_of([](plan& p) { p.lengths[1] = 0; }), "lengths: 0 in y is not above 0");
  EXPECT_EQ(error_of([](plan& p) { p.cells[0] = 2; }), "cells: 2 in x, at least 3 with order 2");
  EXPECT_EQ(error_of([](plan& p) { p.patches[0] = 5; }),
            "patches: 5 in x, from 1 to 4, since each has at least 3 of the 12 cells with order 2");
  EXPECT_EQ(error_of([](plan& p) { p.cells[2] = 5; }), "a mesh of 2 dimensions has one cell and one patch in z");
  EXPECT_NE(error_of([](plan& p) { p.dt = 0.2; }).find("dt = 0.2: above 0 and below the Courant limit 0.141"),
            std::string::npos);
  EXPECT_NE(error_of([](plan& p) { p.dt = std::nan(""); }), "nothing");
  EXPECT_EQ(error_of([](plan& p) { p.species_list.push_back(p.species_list[0]); }),
            "two species have the name \"electrons\"");
  EXPECT_EQ(error_of([](plan& p) { p.species_list[0].mass = 0; }), "mass of \"electrons\" = 0: above 0");
  EXPECT_EQ(error_of([](plan& p) { p.species_list[0].charge = 1 / 0.0; }),
            "charge of \"electrons\" = inf is not finite");
  EXPECT_EQ(error_of([](plan& p) { p.species_list[0].name = ""; }), "a species has no name");
  EXPECT_EQ(error_of([](plan& p) { p.field_boundaries[0][1] = field_boundary::conducting; }),
            "sides of x: fields are periodic at both sides or at none");
  EXPECT_EQ(error_of([](plan& p) { p.particle_boundaries[1][0] = particle_boundary::absorbed; }),
            "the low side of y: particles and fields are periodic together");
  EXPECT_EQ(error_of([](plan& p) {
              p = between(p, 0, field_boundary::conducting, particle_boundary::thermal, particle_boundary::absorbed);
            }),
            "wall_temperature = 0: a thermal wall needs one above 0");
  EXPECT_EQ(error_of([](plan& p) {
              p = between(p, 0, field_boundary::absorbing, particle_boundary::absorbed, particle_boundary::absorbed);
            }),
            "layer = 8: an absorbing layer has from 2 to 6 of the 12 cells in x");
}

TEST(pic_plan, parses_names) {
  EXPECT_EQ(parse_pusher("higuera_cary"), pusher::higuera_cary);
  EXPECT_EQ(parse_field_boundary("absorbing"), field_boundary::absorbing);
  EXPECT_EQ(parse_particle_boundary("thermal"), particle_boundary::thermal);
  EXPECT_THROW(parse_pusher("leapfrog"), input_error);
  try {
    parse_particle_boundary("open");
    FAIL();
  } catch (const input_error& e) {
    EXPECT_STREQ(e.what(), "the side of particles \"open\" is not one of periodic, absorbed, reflected, thermal, axis");
  }
}

TEST(pic_plan, has_the_courant_limit) {
  const plan p = periodic(3, 1);
  EXPECT_NEAR(p.courant(), 0.2 / std::sqrt(3), 1e-15);
  EXPECT_NEAR(p.cell_volume(), 0.008, 1e-15);
}

TEST(pic_plan, patches_cover_the_box_once) {
  const plan p = periodic(3, 1, 10, 3);  // 10, 11 and 12 cells
  std::vector<int> covered(std::size_t(p.cells[0] * p.cells[1] * p.cells[2]));
  for (int n = 0; n < 27; ++n) {
    const index3 at = patch_of(p, n);
    EXPECT_EQ(patch_number(p, at), n);
    const patch_grid m(p, point_of(at));
    for (int k = 0; k < m.cells[2]; ++k)
      for (int j = 0; j < m.cells[1]; ++j)
        for (int i = 0; i < m.cells[0]; ++i)
          ++covered[std::size_t(m.first[0] + i + p.cells[0] * (m.first[1] + j + p.cells[1] * (m.first[2] + k)))];
  }
  EXPECT_EQ(covered, std::vector<int>(covered.size(), 1));
}

TEST(pic_plan, neighbours_are_mutual) {
  for (const bool bounded : {false, true}) {
    plan p = periodic(3, 1, 12, 3);
    if (bounded)
      p = between(p, 1, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::absorbed);
    for (int n = 0; n < 27; ++n) {
      const index3 self = patch_of(p, n);
      const auto around = neighbours(p, self);
      EXPECT_EQ(around.size(), !bounded ? 26u : self.y == 1 ? 26u : 17u);
      for (const auto& other : around) {
        bool mutual = false;
        for (const auto& next : neighbours(p, other.at))
          mutual = mutual || (next.at == self && next.shift == opposite(other.shift));
        EXPECT_TRUE(mutual);
      }
    }
  }
  EXPECT_EQ(neighbours(periodic(1, 1, 8, 1), {0, 0, 0}).size(), 2u);  // itself, twice
  EXPECT_EQ(neighbours(periodic(2, 1, 8, 2), {1, 1, 0}).size(), 8u);
}

TEST(pic_plan, messages_fit_the_receiver) {
  plan p = periodic(2, 3, 10, 3);
  for (int n = 0; n < 9; ++n) {
    const patch_grid m(p, point_of(patch_of(p, n)));
    for (const auto& to : neighbours(p, patch_of(p, n))) {
      const patch_grid other(p, point_of(to.at));
      EXPECT_EQ(guards_towards(m, to.shift).size(), edge_towards(other, opposite(to.shift)).size());
      EXPECT_EQ(edge_towards(m, to.shift).size(), guards_towards(other, opposite(to.shift)).size());
      EXPECT_GT(edge_towards(m, to.shift).size(), 0u);
    }
  }
}

TEST(pic_plan, put_and_add_invert_append) {
  const patch_grid m(periodic(3, 2, 6, 1), {0, 0, 0});
  std::vector<double> from(m.size()), to(m.size(), -1), taken;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = double(i);
  const region r = edge_towards(m, {1, 0, -1});
  append(m, r, from, taken);
  EXPECT_EQ(taken.size(), r.size());
  EXPECT_EQ(put(m, r, taken.data(), to), taken.data() + taken.size());
  std::size_t changed = 0;
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i] != -1) {
      EXPECT_EQ(to[i], from[i]);
      ++changed;
    }
  EXPECT_EQ(changed, r.size());
  add(m, r, taken.data(), to);
  EXPECT_EQ(to[std::size_t(m.index({r.low[0], r.low[1], r.low[2]}))], 2 * taken[0]);
}

TEST(pic_plan, rows_of_patches_are_merged) {
  plan p = periodic(1, 1);
  const auto names = record::names(p);
  ASSERT_EQ(names.size(), record::length(p));
  EXPECT_EQ(names[record::at(0, record::number)], "electrons.number");
  EXPECT_EQ(names[record::at(0, record::left) + 5], "electrons.left_zhigh");
  EXPECT_EQ(names[record::at(0, record::left_weight) + 1], "electrons.left_weight_xhigh");
  EXPECT_EQ(names[record::at(0, record::emitted_weight)], "electrons.emitted_weight");
  EXPECT_EQ(names.back(), "gauss");
  std::vector<double> a(names.size(), 1), b(names.size(), 2);
  a.back() = std::nan("");
  const auto sum = record::merge(p, record::merge(p, {}, a), b);
  EXPECT_EQ(sum[record::time], 2);
  EXPECT_EQ(sum[record::energies], 3);
  EXPECT_EQ(sum.back(), 2);
  EXPECT_THROW(record::merge(p, a, {1, 2}), runtime_failure);
}

}  // namespace
}  // namespace plaq::pic
