// Fields from outside, which particles feel and nothing changes, and the formulas they are given by.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "plaq/base/error.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;
using steps = std::vector<formula::step>;

// An electron at rest: u = -E t in every direction; walls add no images, and fields of the mesh stay 0.
TEST(external_fields, accelerate_particles) {
  for (const bool at_nodes : {false, true}) {
    plan p = between(periodic(2, 2, 9, 2), 0, field_boundary::conducting, particle_boundary::reflected,
                     particle_boundary::reflected);
    p.electrostatic = true, p.dt = 0.05, p.at_nodes = at_nodes;
    p.species_list = {{"probes", -1e-12, 1e-12, pusher::boris}};
    for (std::size_t c = 0; c < 3; ++c)
      p.external.formulas[c] = formula(steps{{"", 0, double(c) + 1}}), p.external.unit[c] = 0.01;
    const run result = on(2, p, {.pool = {.workers = 1}}, [&](plasma& s) {
      fill(s, {.per_cell = 2, .even = true, .thermal = 0});
      s.start();
      auto rows = s.advance(20, true);
      for (const int patch : s.local_patches()) {
        const particle_view view = s.particles(patch, 0);
        for (std::size_t i = 0; i < view.u.size(); ++i)
          EXPECT_NEAR(view.u[i], -0.01 * (double(i % 3) + 1) * 19.5 * p.dt, 1e-9);
        for (const double e : s.field(patch, "ey")) EXPECT_NEAR(e, 0, 1e-9);
      }
      return rows;
    });
    EXPECT_EQ(result.errors, std::vector<std::string>(2));
    EXPECT_LT(at(result, p, 19, record::gauss(p)), 1e-14);
  }
}

// Formulas of x, y, t and a map with a factor of t, with a window, on ranks, balanced, after stop and resume.
TEST(external_fields, have_the_same_bits_on_any_ranks_and_after_a_stop) {
  plan p = between(periodic(2, 1, 12, 3), 0, field_boundary::absorbing, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.layer = 2, p.window = {0.5, 0}, p.at_nodes = true, p.filter_passes = 2, p.filter_compensation = true;
  p.external.formulas[1] = formula(steps{{"t"}, {"x"}, {"+", 2}, {"sin", 1}, {"y"}, {"*", 2}});
  p.external.unit[1] = 0.3;
  p.external.maps[5] = {{0.5, 0.1, 0}, {0.7, 0.9, 1}, {3, 2, 1}, {1, -2, 3, 0.5, 0.25, 2}};
  p.external.factor = formula(steps{{"t"}, {"cos", 1}});
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_external_fields_" + std::to_string(::getpid()));
  const auto walk = [&](plasma& s, int steps) {
    for (int i = 0; i < steps; ++i) {
      if (s.step() > 0 && p.window_shift(s.step()) > p.window_shift(s.step() - 1)) s.shift_window();
      s.advance(1, false);
    }
    return std::vector<double>();
  };
  const auto whole = [&](plasma& s) {
    fill(s, {.per_cell = 2});
    s.start();
    return walk(s, 12);
  };
  const run one = on(1, p, {.pool = {.workers = 2}}, whole), two = on(2, p, {.pool = {.workers = 1}}, whole);
  on(3, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    fill(s, {.per_cell = 2});
    s.start();
    walk(s, 5);
    s.balance({.by = "greedy_refine"});
    walk(s, 2);
    s.save(folder);
    return std::vector<double>();
  });
  const run resumed = on(2, p, {.pool = {.workers = 1}, .folder = folder}, [&](plasma& s) { return walk(s, 5); });
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(one.all == two.all && one.all == resumed.all);
  plan without = p;
  without.external = {};
  EXPECT_FALSE(one.all == on(1, without, {.pool = {.workers = 1}}, whole).all);
}

TEST(external_fields, that_are_not_finite_end_the_run_with_their_place) {
  plan p = periodic(1, 1, 12, 2);
  p.external.formulas[3] = formula(steps{{"", 0, 1}, {"t"}, {"", 0, 1}, {"<", 2}, {"/", 2}}), p.external.unit[3] = 1;
  p.dt = 0.19;
  const run result = on(2, p, {.pool = {.workers = 1}}, [](plasma& s) {
    fill(s, {});
    s.start();
    return s.advance(9, false);
  });
  for (const auto& error : result.errors)
    EXPECT_TRUE(error.find("step 7 'push': external.b: the x component is not finite at x = ") != std::string::npos &&
                error.find(", t = 1.140000") != std::string::npos)
        << error;
}

TEST(formulas, refuse_programs_that_are_not_whole) {
  EXPECT_THROW(formula(steps{{"q"}}), input_error);
  EXPECT_THROW(formula(steps{{"+", 2}}), input_error);
  EXPECT_THROW(formula(steps{{"x"}, {"x"}}), input_error);
  EXPECT_THROW(formula(steps{{"x"}, {"nothing", 1}}), input_error);
  EXPECT_THROW(formula(steps{{"x"}, {"table", 1, 0, {1, 2}, {1}}}), input_error);
}

}  // namespace
}  // namespace plaq::pic
