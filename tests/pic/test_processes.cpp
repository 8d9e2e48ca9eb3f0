// Processes in a patch: particle boundaries, absorption, emission, collisions and loading at their limits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "plans.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/mesh/plates.hpp"
#include "plaq/pic/processes/collisions.hpp"
#include "plaq/pic/processes/emission.hpp"
#include "plaq/pic/processes/particle_boundaries.hpp"
#include "plaq/pic/processes/secondary.hpp"

namespace plaq::pic {
namespace {

using namespace test;

/// A box closed in all dimensions, in one patch.
plan box_with(int dimensions, particle_boundary w) {
  plan p = periodic(dimensions, 1, 8, 1);
  for (int d = 0; d < dimensions; ++d) p = between(p, d, field_boundary::conducting, w, w);
  p.wall_temperature = 0.04;
  return p;
}
patch<double> with_particle(const plan& p, const point& cell, const std::array<double, 3>& x,
                            const std::array<double, 3>& u, double w = 2) {
  patch<double> self(p, {});
  self.row.assign(record::length(p), 0);
  auto& all = self.species[0];
  for (int d = 0; d < p.dimensions; ++d) all.cell[d] = {cell[d]}, all.x[d] = {x[d]};
  for (int c = 0; c < 3; ++c) all.u[c] = {u[c]};
  all.w = {w};
  return self;
}

TEST(particle_boundaries, absorbed_particles_are_counted_at_their_side) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int d = 0; d < dimensions; ++d)
      for (int side = 0; side < 2; ++side) {
        const plan p = box_with(dimensions, particle_boundary::absorbed);
        point cell{3, dimensions > 1 ? 3 : 0, dimensions > 2 ? 3 : 0};
        cell[d] = side ? p.cells[d] - 1 : 0;
        std::array<double, 3> x{0.5, 0.5, 0.5}, u{};
        x[std::size_t(d)] = side ? 0.9 : 0.1, u[std::size_t(d)] = side ? 4 : -4;
        patch<double> self = with_particle(p, cell, x, u);
        double remaining = 1;
        EXPECT_EQ(apply_particle_boundaries(p, self, 0, 0, 0, remaining), path_end::removed);
        for (std::size_t other = 0; other < 6; ++other) {
          const bool hit = other == std::size_t(2 * d + side);
          EXPECT_EQ(self.row[record::at(0, record::left) + other], hit ? 1 : 0);
          EXPECT_EQ(self.row[record::at(0, record::left_weight) + other], hit ? 2 : 0);
        }
      }
}

TEST(particle_boundaries, reflection_in_a_corner_reverses_all_components) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const plan p = box_with(dimensions, particle_boundary::reflected);
    const std::array<double, 3> u{-0.8, -0.9, -0.7};
    patch<double> self = with_particle(p, {}, {0.05, 0.06, 0.04}, u);
    double remaining = 1;
    EXPECT_EQ(apply_particle_boundaries(p, self, 0, 0, 0, remaining), path_end::completed);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(self.species[0].u[c][0], int(c) < dimensions ? -u[c] : u[c]) << dimensions;
    for (std::size_t d = 0; d < std::size_t(dimensions); ++d) {
      const double g = std::sqrt(1 + 0.64 + 0.81 + 0.49), start = std::array{0.05, 0.06, 0.04}[d];
      EXPECT_NEAR(self.species[0].cell[d][0] + self.species[0].x[d][0], -start - u[d] / g * p.dt / p.spacing(int(d)),
                  1e-13);
    }
  }
}

TEST(particle_boundaries, a_path_along_a_wall_does_not_meet_it) {
  const plan p = box_with(2, particle_boundary::absorbed);
  patch<double> self = with_particle(p, {0, 3, 0}, {0, 0.5, 0}, {0, 0.5, 0});
  double remaining = 1;
  EXPECT_EQ(apply_particle_boundaries(p, self, 0, 0, 0, remaining), path_end::completed);
  EXPECT_EQ(self.species[0].x[0][0], 0);
  EXPECT_EQ(self.row[record::at(0, record::left)], 0);
}

TEST(particle_boundaries, the_second_half_of_a_step_is_half_as_long) {
  const plan p = box_with(1, particle_boundary::reflected);
  for (const double part : {1.0, 0.5, 0.125}) {
    patch<double> self = with_particle(p, {3, 0, 0}, {0.2, 0, 0}, {0.6, 0, 0});
    double remaining = part;
    apply_particle_boundaries(p, self, 0, 0, 0, remaining);
    EXPECT_NEAR(self.species[0].x[0][0], 0.2 + part * 0.6 / std::sqrt(1.36) * p.dt / p.spacing(0), 1e-14);
    EXPECT_EQ(remaining, 0);
  }
}

TEST(particle_boundaries, thermal_momenta_are_functions_of_the_particle_and_the_step) {
  const plan p = box_with(1, particle_boundary::thermal);
  const auto momentum = [&](std::uint64_t number, std::int64_t step) {
    patch<double> self = with_particle(p, {0, 0, 0}, {0.01, 0, 0}, {-1, 0, 0});
    self.step = step;
    double remaining = 1;
    EXPECT_EQ(apply_particle_boundaries(p, self, 0, 0, number, remaining), path_end::completed);
    return self.species[0].u[0][0];
  };
  EXPECT_EQ(momentum(3, 5), momentum(3, 5));
  EXPECT_NE(momentum(3, 5), momentum(4, 5));
  EXPECT_NE(momentum(3, 5), momentum(3, 6));
  EXPECT_GT(momentum(3, 5), 0);
}

/// A plate of conductor nodes across x.
plan with_wall_inside(int dimensions) {
  plan p = periodic(dimensions, 1, 10, 1);
  conductor c;
  point at{};
  for (at[2] = 0; at[2] < p.nodes(2); ++at[2])
    for (at[1] = 0; at[1] < p.nodes(1); ++at[1])
      for (at[0] = 4; at[0] <= 5; ++at[0]) c.nodes.push_back(number_of_node(p, at));
  std::ranges::sort(c.nodes);
  p.conductors = {c};
  return p;
}

TEST(particle_boundaries, solid_cells_take_particles_on_their_path) {
  plan p = with_wall_inside(2);
  p.electrostatic = true, p.dt = 0.5;
  patch<double> self = with_particle(p, {2, 3, 0}, {0.9, 0.5, 0}, {5, 0, 0}, 3);
  double remaining = 1;
  EXPECT_EQ(apply_particle_boundaries(p, self, 0, 0, 0, remaining), path_end::removed);
  EXPECT_EQ(self.row[record::at(0, record::absorbed)], 1);
  EXPECT_EQ(self.row[record::at(0, record::absorbed_weight)], 3);
  EXPECT_EQ(self.row[record::at(0, record::weight)], -3);
}

TEST(particle_boundaries, conductors_absorb_only_what_is_in_solid_cells) {
  const plan p = with_wall_inside(1);
  patch<double> self = with_particle(p, {3, 0, 0}, {0.5, 0, 0}, {}, 1);
  for (const int cell : {4, 5, 4}) {
    self.species[0].cell[0].push_back(cell), self.species[0].x[0].push_back(0.5);
    for (auto& u : self.species[0].u) u.push_back(0);
    self.species[0].w.push_back(cell);
  }
  EXPECT_EQ(absorb_in_conductors(p, self, 0), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(self.row[record::at(0, record::absorbed)], 2);
  EXPECT_EQ(self.row[record::at(0, record::absorbed_weight)], 8);
}

// Emission -----------------------------------------------------------------------------------------------------------

plan with_emitter(int dimensions, emitter e) {
  plan p = box_with(dimensions, particle_boundary::absorbed);
  p.emitters = {std::move(e)};
  return p;
}

TEST(plates, tiles_have_the_area_of_the_plate) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    emitter e{.centre = {0.8, 0.8, 0.8}, .half_width = dimensions > 1 ? 0.45 : 0, .weight = 1};
    const plan p = with_emitter(dimensions, e);
    double area = 0;
    for (const tile& t : tiles_in(p, patch_grid(p, {}))) area += t.area;
    EXPECT_NEAR(area, std::pow(0.9, dimensions - 1), 1e-13);
  }
}

TEST(plates, tiles_of_cut_boxes_are_those_of_one_patch) {
  emitter e{.centre = {0.8, 0.9, 0}, .normal = {0.8, 0.6, 0}, .half_width = 0.6, .weight = 1};
  const plan whole = with_emitter(2, e);
  plan cut = whole;
  cut.patches = {2, 2, 1};
  std::vector<std::uint32_t> expected, numbers;
  for (const tile& t : tiles_in(whole, patch_grid(whole, {}))) expected.push_back(t.number);
  for (int n = 0; n < 4; ++n)
    for (const tile& t : tiles_in(cut, patch_grid(cut, point_of(patch_of(cut, n))))) numbers.push_back(t.number);
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  EXPECT_EQ(numbers, expected);
}

TEST(plates, limited_by_space_charge_are_faces_of_the_side) {
  emitter e{.centre = {0, 0.8, 0.8}, .half_width = 0.45, .space_charge_limited = true, .weight = 1};
  plan p = with_emitter(3, e);
  p.patches[0] = 2;
  const auto faces = tiles_in(p, patch_grid(p, {0, 0, 0}));
  EXPECT_EQ(faces.size(), 4u * 4u);  // cells whose centre is on the plate
  for (const tile& t : faces) {
    EXPECT_NEAR(t.area, 0.04, 1e-15);
    for (const int d : {0, 1}) EXPECT_LE(std::abs((t.at[std::size_t(d)] + 0.5) * 0.2 - 0.8), 0.45);
  }
  EXPECT_TRUE(tiles_in(p, patch_grid(p, {1, 0, 0})).empty());  // not at this side
}

TEST(plates, points_of_a_tile_are_between_its_corners) {
  emitter e{.centre = {0.8, 0.9, 1.0}, .normal = {0, 0.6, 0.8}, .half_width = 0.3};
  const plan p = with_emitter(3, e);
  const frame f = frame_of(p, e);
  const auto tiles = tiles_in(p, patch_grid(p, {}));
  const auto along = [&](const std::array<double, 3>& x, const std::array<double, 3>& axis) {
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d) sum += (x[d] - e.centre[d]) * axis[d];
    return sum;
  };
  for (const tile& t : tiles) {
    const auto low = point_on_plate(p, e, t, 0, 0), high = point_on_plate(p, e, t, 1, 1);
    EXPECT_NEAR(along(low, f.normal), 0, 1e-14);
    EXPECT_NEAR((along(high, f.first) - along(low, f.first)) * (along(high, f.second) - along(low, f.second)), t.area,
                1e-14);
  }
  EXPECT_NEAR(along(point_on_plate(p, e, tiles.front(), 0, 0), f.first), -0.3, 1e-14);
  EXPECT_NEAR(along(point_on_plate(p, e, tiles.back(), 1, 1), f.second), 0.3, 1e-14);
}

TEST(emission, with_too_small_a_weight_at_the_space_charge_limit_is_an_error) {
  emitter e{.centre = {0, 0, 0}, .space_charge_limited = true, .weight = 1e-12};
  const plan p = with_emitter(1, e);
  patch<double> self(p, {});
  self.row.assign(record::length(p), 0);
  std::ranges::fill(self.f.e[0], -1.0);
  EXPECT_THROW(emit(p, self, 0), runtime_failure);
  std::ranges::fill(self.f.e[0], 1.0);  // a field that holds electrons back
  EXPECT_TRUE(emit(p, self, 0).state.empty());
}

TEST(emission, at_the_space_charge_limit_cancels_the_charge_behind_the_plate) {
  emitter e{.centre = {0, 0, 0}, .space_charge_limited = true, .weight = 1e-4};
  const plan p = with_emitter(1, e);
  patch<double> self(p, {});
  self.row.assign(record::length(p), 0);
  std::ranges::fill(self.f.e[0], -0.02);  // 0.02 of charge on the plate: 200 electrons
  const auto first = emit(p, self, 0);
  EXPECT_NEAR(double(first.state.size()), 200, 1);
  EXPECT_EQ(self.row[record::at(0, record::emitted)], double(first.state.size()));
  double charge = 0;
  for (const double rho : self.plate_charge) charge += rho * p.cell_volume();
  EXPECT_NEAR(charge, 1e-4 * double(first.state.size()), 1e-15);
}

TEST(emission, of_a_tracked_species_gives_ids) {
  emitter e{.centre = {0.5, 0, 0}, .weight = 1e-3};
  e.set_flux({1});
  plan p = with_emitter(1, e);
  p.species_list[0].tracked = true;
  patch<double> self(p, {});
  self.row.assign(record::length(p), 0);
  const auto out = emit(p, self, 0);
  EXPECT_GT(out.state.size(), 10u);
  EXPECT_EQ(out.state.id.size(), out.state.size());
}

// Collisions at their limits --------------------------------------------------------------------------

TEST(collisions, of_one_particle_or_without_partners_change_nothing) {
  plan p = periodic(1, 1, 8, 1);
  p.species_list.push_back({"ions", 1, 100, pusher::boris});
  p.coupling = 1, p.density_scale = 1e3;
  p.collision_pairs = {{.first = 0, .second = 0}, {.first = 0, .second = 1}};
  patch<double> self = with_particle(p, {2, 0, 0}, {0.5, 0, 0}, {0.3, 0.1, -0.2});
  const auto before = self.species[0].u;
  collide_particles(p, self);
  EXPECT_EQ(self.species[0].u, before);
}

TEST(collisions, happen_in_every_nth_step) {
  plan p = periodic(1, 1, 8, 1);
  p.coupling = 1, p.density_scale = 1e3;
  p.collision_pairs = {{.first = 0, .second = 0, .every = 3}};
  for (int step = 0; step < 7; ++step) {
    patch<double> self(p, {});
    self.species[0] = some_particles<double>(self.mesh, 40, 0.1);
    const auto before = self.species[0].u;
    self.step = step;
    collide_particles(p, self);
    EXPECT_EQ(self.species[0].u != before, step % 3 == 0) << step;
  }
}

// With an odd number of particles of equal weights all momenta still add up.
TEST(collisions, within_a_species_conserve_momentum_for_odd_and_even_numbers) {
  plan p = periodic(1, 1, 8, 1);
  p.coupling = 1e-2, p.density_scale = 1e3;
  p.collision_pairs = {{.first = 0, .second = 0}};
  for (const int n : {2, 3, 8, 9}) {
    patch<double> self(p, {});
    self.species[0] = some_particles<double>(self.mesh, n, 0.1);
    for (auto& cell : self.species[0].cell[0]) cell = 4;
    std::ranges::fill(self.species[0].w, 1.0);
    const auto momentum = [&](std::size_t c) {
      double sum = 0;
      for (const double u : self.species[0].u[c]) sum += u;
      return sum;
    };
    const std::array before{momentum(0), momentum(1), momentum(2)};
    const auto u = self.species[0].u;
    collide_particles(p, self);
    for (std::size_t i = 0; i < std::size_t(n); ++i) EXPECT_NE(self.species[0].u[0][i], u[0][i]) << n;  // all collide
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(momentum(c), before[c], 1e-13) << n;
  }
}

// Secondary emission -------------------------------------------------------------------------------------------------

plan with_secondaries(int dimensions, double number) {
  plan p = box_with(dimensions, particle_boundary::absorbed);
  p.species_list.push_back({"ions", 1, 100, pusher::boris});
  p.secondaries = {{.projectiles = 1,
                    .emitted = 0,
                    .at = {{{true, true}}},
                    .temperature = 0.01,
                    .energy = {0, 1},
                    .number = {number, number, number, number}}};
  p.check();
  return p;
}

TEST(secondaries, the_mean_number_is_that_of_the_table) {
  const secondary_emission e{.energy = {1, 2, 4}, .number = {0, 1, 2, 3, 4, 5}, .cosines = 2};
  EXPECT_DOUBLE_EQ(mean_number(e, 0.5, 0), 0);
  EXPECT_DOUBLE_EQ(mean_number(e, 1.5, 0), 1);
  EXPECT_DOUBLE_EQ(mean_number(e, 3, 0.5), 3.5);
  EXPECT_DOUBLE_EQ(mean_number(e, 9, 1), 5);
}

// Impacts emit whole particles, in the mean the number asked for within four standard errors, at the place of the
// impact and into the box.
TEST(secondaries, are_emitted_where_ions_arrive) {
  const plan p = with_secondaries(1, 1.3);
  for (const int side : {0, 1}) {
    patch<double> self(p, {});
    self.row.assign(record::length(p), 0);
    for (std::uint64_t n = 0; n < 2000; ++n)
      emit_secondaries(p, self, {1, 0, side, {side ? p.cells[0] - 1 : 0, 0, 0}, {double(side), 0, 0}, {}, 2.5, n});
    const auto& born = self.born[0];
    EXPECT_NEAR(double(born.size()), 2600, 4 * std::sqrt(2000 * 0.3 * 0.7));
    EXPECT_EQ(self.row[record::at(0, record::emitted)], double(born.size()));
    EXPECT_EQ(self.row[record::at(0, record::emitted_weight)], 2.5 * double(born.size()));
    double mean = 0;  // of the flux: u^2/2 = T
    for (std::size_t i = 0; i < born.size(); ++i) {
      EXPECT_GT((side ? -1 : 1) * born.u[0][i], 0);
      EXPECT_EQ(born.x[0][i], side);
      mean += 0.5 * born.u[0][i] * born.u[0][i] / double(born.size());
    }
    EXPECT_NEAR(mean, 0.01, 4 * 0.01 / std::sqrt(2600));
  }
}

// Loading ------------------------------------------------------------------------------------------------------------

TEST(loading, refuses_lists_of_different_lengths_and_values_that_are_not_finite) {
  const plan p = periodic(2, 1, 8, 1);
  patch<double> self(p, {});
  const std::vector<double> x{0.5, 0.5}, w{1}, u{0, 0, 0};
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const auto refused = [&](const std::vector<double>& x_, const std::vector<double>& w_, const std::vector<double>& u_,
                           const std::vector<double>& t_) {
    EXPECT_THROW(load(p, self, 0, {x_, w_, u_, t_, false}), input_error);
    EXPECT_EQ(self.size(), 0u);
  };
  refused({0.5}, w, u, u);
  refused(x, {1, 2}, u, u);
  refused(x, w, {0}, u);
  refused(x, w, u, {0, 0});
  refused({nan, 0.5}, w, u, u);
  refused({0.5, -0.01}, w, u, u);
  refused({0.5, p.lengths[1] + 0.01}, w, u, u);
  refused(x, {infinity}, u, u);
  refused(x, w, {0, 0, nan}, u);
  load(p, self, 0, {x, w, u, u, false});
  EXPECT_EQ(self.size(), 1u);
}

TEST(loading, takes_positions_on_the_sides_of_the_patch) {
  const plan p = periodic(1, 1, 8, 2);
  patch<double> self(p, {1, 0, 0});
  const std::vector<double> x{0.8, 1.6}, w{1, 1}, u(6);
  load(p, self, 0, {x, w, u, u, false});
  EXPECT_EQ(self.species[0].cell[0], (std::vector<std::int32_t>{0, 3}));
  EXPECT_NEAR(self.species[0].x[0][1], 1, 1e-12);
}

TEST(loading, counts_arrivals_for_the_next_record) {
  const plan p = periodic(1, 1, 8, 1);
  patch<float> self(p, {});
  const std::vector<double> x{0.3, 0.5}, w{2, 3}, u(6);
  load(p, self, 0, {x, w, u, u, false});
  EXPECT_EQ(self.next_row[record::at(0, record::emitted)], 2);
  EXPECT_EQ(self.next_row[record::at(0, record::emitted_weight)], 5);
}

}  // namespace
}  // namespace plaq::pic
