// What a plan may be, and how it is cut.
#include <gtest/gtest.h>

#include <functional>

#include "plans.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/neighbours.hpp"
#include "plaq/pic/record.hpp"

namespace plaq::pic {
namespace {

using namespace test;

std::string wrong(const std::function<void(plan&)>& change) {
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

TEST(pic_plan, says_what_is_wrong) {
  EXPECT_EQ(wrong([](plan&) {}), "nothing");
  EXPECT_EQ(wrong([](plan& p) { p.dimensions = 4; }), "a mesh of 4 dimensions: 1, 2 or 3");
  EXPECT_EQ(wrong([](plan& p) { p.order = 4; }), "order = 4: shapes have order 1, 2 or 3");
  EXPECT_EQ(wrong([](plan& p) { p.lengths[1] = 0; }), "lengths: 0 in y is not above 0");
  EXPECT_EQ(wrong([](plan& p) { p.cells[0] = 2; }), "cells: 2 in x, at least 3 with order 2");
  EXPECT_EQ(wrong([](plan& p) { p.patches[0] = 5; }),
            "patches: 5 in x, from 1 to 4, since each has at least 3 of the 12 cells with order 2");
  EXPECT_EQ(wrong([](plan& p) { p.cells[2] = 5; }), "a mesh of 2 dimensions has one cell and one patch in z");
  EXPECT_NE(wrong([](plan& p) { p.dt = 0.2; }).find("dt = 0.2: above 0 and below the Courant limit 0.141"),
            std::string::npos);
  EXPECT_NE(wrong([](plan& p) { p.dt = std::nan(""); }), "nothing");
  EXPECT_EQ(wrong([](plan& p) { p.kinds.push_back(p.kinds[0]); }), "two species have the name \"electrons\"");
  EXPECT_EQ(wrong([](plan& p) { p.kinds[0].mass = 0; }), "mass of \"electrons\" = 0: above 0");
  EXPECT_EQ(wrong([](plan& p) { p.kinds[0].charge = 1 / 0.0; }), "charge of \"electrons\" = inf is no number");
  EXPECT_EQ(wrong([](plan& p) { p.kinds[0].name = ""; }), "a species has no name");
  EXPECT_EQ(wrong([](plan& p) { p.borders[0][1] = border::conducting; }),
            "sides of x: fields are periodic at both sides or at none");
  EXPECT_EQ(wrong([](plan& p) { p.walls[1][0] = wall::absorbed; }),
            "the low side of y: particles and fields are periodic together");
  EXPECT_EQ(wrong([](plan& p) { p = between(p, 0, border::conducting, wall::thermal, wall::absorbed); }),
            "wall_temperature = 0: a thermal wall needs one above 0");
  EXPECT_EQ(wrong([](plan& p) { p = between(p, 0, border::absorbing, wall::absorbed, wall::absorbed); }),
            "layer = 8: an absorbing layer has from 2 to 6 of the 12 cells in x");
}

TEST(pic_plan, knows_names) {
  EXPECT_EQ(pusher_named("higuera_cary"), pusher::higuera_cary);
  EXPECT_EQ(border_named("absorbing"), border::absorbing);
  EXPECT_EQ(wall_named("thermal"), wall::thermal);
  EXPECT_THROW(pusher_named("leapfrog"), input_error);
  try {
    wall_named("open");
    FAIL();
  } catch (const input_error& e) {
    EXPECT_STREQ(e.what(), "the side of particles \"open\" is not one of periodic, absorbed, reflected, thermal");
  }
}

TEST(pic_plan, courant_limit) {
  const plan p = periodic(3, 1);
  EXPECT_NEAR(p.courant(), 0.2 / std::sqrt(3), 1e-15);
  EXPECT_NEAR(p.cell_volume(), 0.008, 1e-15);
}

TEST(pic_plan, patches_cover_the_box_once) {
  const plan p = periodic(3, 1, 10, 3);  // 10, 11 and 12 cells
  std::vector<int> covered(std::size_t(p.cells[0] * p.cells[1] * p.cells[2]));
  for (int n = 0; n < 27; ++n) {
    const index3 at = patch_of(p, n);
    EXPECT_EQ(number_of(p, at), n);
    const block m(p, point_of(at));
    for (int k = 0; k < m.cells[2]; ++k)
      for (int j = 0; j < m.cells[1]; ++j)
        for (int i = 0; i < m.cells[0]; ++i)
          ++covered[std::size_t(m.first[0] + i + p.cells[0] * (m.first[1] + j + p.cells[1] * (m.first[2] + k)))];
  }
  EXPECT_EQ(covered, std::vector<int>(covered.size(), 1));
}

TEST(pic_plan, neighbours_know_each_other) {
  for (const bool bounded : {false, true}) {
    plan p = periodic(3, 1, 12, 3);
    if (bounded) p = between(p, 1, border::conducting, wall::absorbed, wall::absorbed);
    for (int n = 0; n < 27; ++n) {
      const index3 me = patch_of(p, n);
      const auto around = neighbours(p, me);
      EXPECT_EQ(around.size(), !bounded ? 26u : me.y == 1 ? 26u : 17u);
      for (const auto& other : around) {
        bool back_again = false;
        for (const auto& theirs : neighbours(p, other.at))
          back_again = back_again || (theirs.at == me && theirs.shift == back(other.shift));
        EXPECT_TRUE(back_again);
      }
    }
  }
  EXPECT_EQ(neighbours(periodic(1, 1, 8, 1), {0, 0, 0}).size(), 2u);  // itself, twice
  EXPECT_EQ(neighbours(periodic(2, 1, 8, 2), {1, 1, 0}).size(), 8u);
}

TEST(pic_plan, what_one_sends_is_what_the_other_has_room_for) {
  plan p = periodic(2, 3, 10, 3);
  for (int n = 0; n < 9; ++n) {
    const block m(p, point_of(patch_of(p, n)));
    for (const auto& to : neighbours(p, patch_of(p, n))) {
      const block other(p, point_of(to.at));
      EXPECT_EQ(guards_towards(m, to.shift).size(), edge_towards(other, back(to.shift)).size());
      EXPECT_EQ(edge_towards(m, to.shift).size(), guards_towards(other, back(to.shift)).size());
      EXPECT_GT(edge_towards(m, to.shift).size(), 0u);
    }
  }
}

TEST(pic_plan, regions_are_put_where_they_were_taken) {
  const block m(periodic(3, 2, 6, 1), {0, 0, 0});
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

TEST(pic_plan, rows_of_patches_come_together) {
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
  const auto sum = record::together(p, record::together(p, {}, a), b);
  EXPECT_EQ(sum[record::time], 2);
  EXPECT_EQ(sum[record::energies], 3);
  EXPECT_EQ(sum.back(), 2);
  EXPECT_THROW(record::together(p, a, {1, 2}), runtime_failure);
}

}  // namespace
}  // namespace plaq::pic
