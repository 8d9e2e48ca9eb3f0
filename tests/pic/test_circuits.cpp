#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/poisson/circuits.hpp"
#include "whole.hpp"

namespace plaq::pic::test {
namespace {

/// Plan between conducting sides that absorb, with a circuit at x high.
plan with_circuit(int dimensions, int order, const circuit& outer) {
  plan p = between(periodic(dimensions, order, 12, 2), 0, field_boundary::conducting, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.electrostatic = true;
  p.circuits = {outer};
  return p;
}

// A sheet of charge q w at x between a grounded and a floating plate: no field behind it, so that V = q w x.
TEST(circuits, a_floating_plate_has_the_potential_of_a_sheet_before_it) {
  for (const int order : {1, 2, 3}) {
    plan p = with_circuit(1, order, {.name = "plate", .electrode = 1, .floating = true});
    p.species_list = {{"ions", 2, 1e9, pusher::boris}};
    for (const double x : {0.01, 0.3, 1.1, 2.25, 2.39}) {
      const run result = on(2, p, {.pool = {.workers = 1}}, [&](plasma& s) {
        for (const int patch : s.local_patches()) {
          const patch_grid m = s.mesh(patch);
          const double low = m.first[0] * m.spacing[0], high = low + m.cells[0] * m.spacing[0];
          if (x >= low && x < high)
            s.load(patch, 0, {std::vector{x}, std::vector{0.3}, std::vector(3, 0.0), std::vector(3, 0.0), false});
        }
        s.start();
        return s.advance(2, false);
      });
      ASSERT_EQ(result.errors, std::vector<std::string>(2));
      EXPECT_NEAR(at(result, p, 1, record::circuit(p, 0)), 0.6 * x, 1e-9) << order << " " << x;
      EXPECT_EQ(at(result, p, 1, record::circuit(p, 0) + 1), 0);
    }
  }
}

TEST(circuits, results_do_not_depend_on_ranks_and_checkpoints) {
  for (const int dimensions : {1, 2}) {
    plan p = with_circuit(dimensions, 2,
                          {.name = "outer", .electrode = 1, .resistance = 0.4, .inductance = 1, .capacitance = 2});
    p.species_list.push_back({"ions", 1, 25, pusher::boris});
    if (dimensions == 2) {
      p.conductors.resize(1);
      for (int k = 4; k < 8; ++k)
        for (int i = 4; i < 7; ++i) p.conductors[0].nodes.push_back(number_of_node(p, {i, k, 0}));
      p.circuits.push_back({.name = "probe", .electrode = 4, .floating = true});
    }
    const std::vector<double> potentials = [&] {
      std::vector<double> all;
      for (int step = 0; step < 16; ++step)
        for (std::size_t e = 0; e < p.electrode_potentials().size(); ++e) all.push_back(e == 1 ? 0.1 * step : 0);
      return all;
    }();
    const std::size_t half = potentials.size() / 2;
    const auto whole = [&](plasma& s) {
      fill(s, {.per_cell = 6, .thermal = 0.5});
      s.start();
      return s.advance(16, true, potentials);
    };
    const run one = on(1, p, {.pool = {.workers = 1}}, whole);
    ASSERT_EQ(one.errors, std::vector<std::string>{""});
    EXPECT_TRUE(same(one, on(3, p, {.pool = {.workers = 2}}, whole)));
    EXPECT_NE(at(one, p, 15, record::circuit(p, 0) + 2), 0);
    if (dimensions == 2) {
      EXPECT_NE(at(one, p, 15, record::circuit(p, 1) + 1), 0);
    }

    const auto folder = std::filesystem::temp_directory_path() / ("plaq_circuits_" + std::to_string(::getpid()));
    const run first = on(2, p, {.pool = {.workers = 1}}, [&](plasma& s) {
      fill(s, {.per_cell = 6, .thermal = 0.5});
      s.start();
      auto rows = s.advance(8, true, std::span(potentials).first(half));
      s.balance({.by = "longest_first"});
      s.save(folder);
      return rows;
    });
    ASSERT_EQ(first.errors, std::vector<std::string>(2));
    run second = on(3, p, {.pool = {.workers = 1}, .folder = folder},
                    [&](plasma& s) { return s.advance(8, true, std::span(potentials).subspan(half)); });
    second.rows.insert(second.rows.begin(), first.rows.begin(), first.rows.end());
    EXPECT_TRUE(same(one, second));
    std::filesystem::remove_all(folder);
  }
}

TEST(circuits, refuse_short_circuits) {
  const auto error_of = [](const plan& p) {
    try {
      p.check();
    } catch (const input_error& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  plan p = with_circuit(2, 1, {.name = "a", .electrode = 4, .floating = true});
  p.conductors.resize(1);
  p.conductors[0].nodes = {number_of_node(p, {5, 5, 0})};
  EXPECT_EQ(error_of(p), "nothing");
  plan other = p;
  other.conductors[0].nodes = {number_of_node(p, {0, 5, 0})};
  EXPECT_EQ(error_of(other), "circuit a: a short circuit: its conductor touches a side of the box");
  other = p, other.conductors.push_back(other.conductors[0]);
  EXPECT_EQ(error_of(other), "circuit a: a short circuit: its conductor touches another one");
  other = p, other.circuits[0].floating = false;
  EXPECT_EQ(error_of(other), "circuit a: a short circuit, without resistance, inductance and capacitance");
  other = p, other.circuits.push_back({.name = "b", .electrode = 2, .floating = true});
  EXPECT_EQ(error_of(other), "circuit b: electrode 2 is no conducting side and no conductor");
}

}  // namespace
}  // namespace plaq::pic::test
