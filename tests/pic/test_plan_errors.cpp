// Every refusal of a plan, with its message.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "plans.hpp"
#include "plaq/base/error.hpp"

namespace plaq::pic {
namespace {

using namespace test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// Returns the message of the check of a plan after a change; "" where it passes.
std::string message_of(plan p, const std::function<void(plan&)>& change) {
  p.check();
  change(p);
  try {
    p.check();
  } catch (const input_error& error) {
    return error.what();
  }
  return "";
}
struct refusal {
  std::function<void(plan&)> change;
  std::string message;
};
void expect_refusals(const plan& p, const std::vector<refusal>& all) {
  for (const refusal& r : all) EXPECT_EQ(message_of(p, r.change), r.message);
}

/// A closed box of 24 x 25 cells in 2 x 2 patches.
plan closed_box() {
  plan p = periodic(2, 1, 24, 2);
  for (int d = 0; d < 2; ++d)
    p = between(p, d, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::absorbed);
  return p;
}

TEST(plan_errors, of_the_mesh) {
  expect_refusals(periodic(2, 1, 12, 2),
                  {{[](plan& p) { p.dimensions = 0; }, "a mesh of 0 dimensions: 1, 2 or 3"},
                   {[](plan& p) { p.order = 0; }, "order = 0: shapes have order 1, 2 or 3"},
                   {[](plan& p) { p.patches[2] = 2; }, "a mesh of 2 dimensions has one cell and one patch in z"},
                   {[](plan& p) { p.lengths[0] = nan; }, "lengths: nan in x is not above 0"},
                   {[](plan& p) { p.lengths[1] = infinity; }, "lengths: inf in y is not above 0"},
                   {[](plan& p) { p.cells[1] = 1; }, "cells: 1 in y, at least 2 with order 1"},
                   {[](plan& p) { p.patches[1] = 0; },
                    "patches: 0 in y, from 1 to 6, since each has at least 2 of the 13 cells with order 1"},
                   {[](plan& p) { p.dt = 0; }, "dt = 0: above 0"},
                   {[](plan& p) { p.dt = infinity; }, "dt = inf: above 0"},
                   {[](plan& p) { p.dt = -1, p.electrostatic = true; }, "dt = -1: above 0"}});
}

TEST(plan_errors, of_meshes_that_are_too_large) {
  plan p = periodic(3, 1, 8, 1);
  p.cells = {2000, 2000, 2000}, p.lengths = {400, 400, 400};
  try {
    p.check();
    FAIL();
  } catch (const input_error& error) {
    EXPECT_NE(std::string(error.what()).find("patches: one of them has 8.06"), std::string::npos) << error.what();
  }
  p.cells = {4000, 4000, 4000}, p.lengths = {800, 800, 800}, p.patches = {1000, 1000, 1000};
  try {
    p.check();
    FAIL();
  } catch (const input_error& error) {
    EXPECT_EQ(std::string(error.what()), "patches: 1e+09 of them, at most 1e7");
  }
}

TEST(plan_errors, of_the_courant_limit_name_the_stencil) {
  plan p = periodic(2, 1, 12, 2);
  EXPECT_NE(message_of(p, [](plan& q) { q.dt = q.courant(); }).find("= 1 / sqrt(sum 1 / dx^2)"), std::string::npos);
  p.curl = stencil::cowan;
  EXPECT_NE(message_of(p, [](plan& q) { q.dt = q.courant(); }).find(", the least side of a cell"), std::string::npos);
  EXPECT_EQ(message_of(p, [](plan& q) { q.dt = 0.99 * q.courant(); }), "");
}

TEST(plan_errors, of_sides) {
  expect_refusals(
      closed_box(),
      {{[](plan& p) { p.field_boundaries[0][0] = field_boundary::periodic; },
        "sides of x: fields are periodic at both sides or at none"},
       {[](plan& p) { p.particle_boundaries[0][1] = particle_boundary::periodic; },
        "the high side of x: particles and fields are periodic together"},
       {[](plan& p) { p.particle_boundaries[1][1] = particle_boundary::thermal; },
        "wall_temperature = 0: a thermal wall needs one above 0"},
       {[](plan& p) { p.particle_boundaries[1][1] = particle_boundary::thermal, p.wall_temperature = nan; },
        "wall_temperature = nan: a thermal wall needs one above 0"},
       {[](plan& p) { p.field_boundaries[1][0] = field_boundary::absorbing, p.layer = 1; },
        "layer = 1: an absorbing layer has from 2 to 12 of the 25 cells in y"},
       {[](plan& p) { p.field_boundaries[1][0] = field_boundary::absorbing, p.layer = 13; },
        "layer = 13: an absorbing layer has from 2 to 12 of the 25 cells in y"},
       {[](plan& p) { p.field_boundaries[1][0] = field_boundary::absorbing, p.electrostatic = true; },
        "the low side of y: an electrostatic field has no absorbing sides"},
       {[](plan& p) { p.potentials[0][1] = 2; },
        "potential of the high side of x = 2: a number, other than 0 only at conducting sides of an electrostatic run"},
       {[](plan& p) { p.potentials[1][0] = nan, p.electrostatic = true; },
        "potential of the low side of y = nan: a number, other than 0 only at conducting sides of an electrostatic "
        "run"}});
  EXPECT_EQ(message_of(closed_box(), [](plan& p) { p.potentials[0][1] = 2, p.electrostatic = true; }), "");
}

TEST(plan_errors, of_species) {
  expect_refusals(
      periodic(1, 1),
      {{[](plan& p) { p.species_list[0].name.clear(); }, "a species has no name"},
       {[](plan& p) { p.species_list.push_back(p.species_list[0]); }, "two species have the name \"electrons\""},
       {[](plan& p) { p.species_list[0].mass = -1; }, "mass of \"electrons\" = -1: above 0"},
       {[](plan& p) { p.species_list[0].mass = infinity; }, "mass of \"electrons\" = inf: above 0"},
       {[](plan& p) { p.species_list[0].charge = nan; }, "charge of \"electrons\" = nan is not finite"}});
}

TEST(plan_errors, of_emitters) {
  plan box = closed_box();
  emitter e{.centre = {0, 2.4, 0}, .half_width = 0.5, .weight = 0.1};
  e.set_flux({1});
  box.emitters = {e, e};
  const auto change = [](auto f) { return [f](plan& p) { f(p.emitters[1]); }; };
  expect_refusals(
      box,
      {{change([](emitter& q) { q.species_index = -1; }), "emitter 2: species -1 of 1"},
       {change([](emitter& q) { q.weight = nan; }), "emitter 2: weight = nan: above 0"},
       {change([](emitter& q) { q.weight = infinity; }), "emitter 2: weight = inf: above 0"},
       {change([](emitter& q) { q.temperature = nan; }), "emitter 2: temperature = nan: at least 0"},
       {change([](emitter& q) { q.half_width = -1; }), "emitter 2: half_width = -1: at least 0"},
       {change([](emitter& q) { q.half_width = 0; }), "emitter 2: half_width = 0: above 0 but in one dimension"},
       {change([](emitter& q) { q.normal = {0, 0, 1}; }), "emitter 2: the normal has the length 0, not 1"},
       {change([](emitter& q) { q.centre[1] = 0.1; }),
        "emitter 2: it reaches from -0.4 to 0.6 in y, and the box ends at 5"},
       {change([](emitter& q) { q.centre[0] = -0.1; }),
        "emitter 2: it reaches from -0.1 to -0.1 in x, and the box ends at 4.8"},
       {change([](emitter& q) { q.cumulative_flux.clear(); }), "emitter 2: it needs a flux"},
       {change([](emitter& q) { q.centre[0] = 1, q.space_charge_limited = true; }),
        "emitter 2: one that is limited by space charge lies on a conducting side of the box, its normal into the box"},
       {[](plan& p) { p.emitters[1].space_charge_limited = true, p.species_list[0].charge = 0; },
        "emitter 2: particles without charge are not limited by space charge"}});
}

TEST(plan_errors, of_antennas) {
  plan box = closed_box();
  box.antennas = {{.normal = 0, .position = 2, .omega = 2, .field = 0.1, .envelope = {1, 0.5}}};
  const auto change = [](auto f) { return [f](plan& p) { f(p.antennas[0]); }; };
  const std::string numbers = "antenna 1: field, focus, phase and angle are numbers, waist is at least 0";
  expect_refusals(
      box,
      {{[](plan& p) { p.electrostatic = true; }, "antenna 1: an electrostatic solver has no light waves"},
       {change([](antenna& a) { a.normal = 2; }), "antenna 1: normal = 2: one of the 2 dimensions"},
       {change([](antenna& a) { a.normal = -1; }), "antenna 1: normal = -1: one of the 2 dimensions"},
       {change([](antenna& a) { a.position = 0.1; }), "antenna 1: at = 0.1: within the box, a cell from its sides"},
       {change([](antenna& a) { a.position = 4.7; }), "antenna 1: at = 4.7: within the box, a cell from its sides"},
       {change([](antenna& a) { a.omega = 0; }),
        "antenna 1: omega = 0: above 0, with more than two steps and cells to a wave"},
       {change([](antenna& a) { a.omega = nan; }),
        "antenna 1: omega = nan: above 0, with more than two steps and cells to a wave"},
       {change([](antenna& a) { a.waist = nan; }), numbers},
       {change([](antenna& a) { a.field = infinity; }), numbers},
       {change([](antenna& a) { a.focus = nan; }), numbers},
       {change([](antenna& a) { a.phase = nan; }), numbers},
       {change([](antenna& a) { a.angle = infinity; }), numbers},
       {change([](antenna& a) { a.envelope[1] = infinity; }), "antenna 1: its envelope is not finite"}});
}

TEST(plan_errors, of_conductors) {
  plan box = closed_box();  // 25 x 26 nodes
  box.conductors = {{.nodes = {30, 31, 32}}};
  expect_refusals(
      box,
      {{[](plan& p) { p.conductors[0].nodes.clear(); }, "conductor 1: it has no nodes of the mesh"},
       {[](plan& p) { p.conductors[0].nodes = {31, 31}; }, "conductor 1: nodes are from 0 to 649, in rising order"},
       {[](plan& p) { p.conductors[0].nodes = {-1}; }, "conductor 1: nodes are from 0 to 649, in rising order"},
       {[](plan& p) { p.conductors[0].nodes = {650}; }, "conductor 1: nodes are from 0 to 649, in rising order"},
       {[](plan& p) { p.conductors[0].potential = 1; },
        "conductor 1: potential = 1: a number, 0 unless the run is electrostatic"},
       {[](plan& p) { p.conductors[0].potential = nan, p.electrostatic = true; },
        "conductor 1: potential = nan: a number, 0 unless the run is electrostatic"},
       {[](plan& p) { p.conductors[0].cuts = {{29, 1, 0.5}}; },
        "conductor 1: edges that it cuts are those of an electrostatic run, of nodes from 0 to 649, in rising order, "
        "and "
        "0.001 to 1 of each is outside"}});
  plan open = periodic(1, 1, 12, 2);
  open.conductors = {{.nodes = {3}}};
  expect_refusals(open, {{[](plan& p) { p.electrostatic = true; },
                          "conductor 1: in an electrostatic run a side of the box has to conduct, too"}});
}

TEST(plan_errors, of_collisions) {
  plan box = periodic(1, 1);
  box.coupling = 1e-3, box.density_scale = 100;
  box.collision_pairs = {{.first = 0, .second = 0}};
  const auto change = [](auto f) { return [f](plan& p) { f(p.collision_pairs[0]); }; };
  expect_refusals(box,
                  {{change([](collision_pair& c) { c.first = 1; }), "collisions of species 1 of 1"},
                   {change([](collision_pair& c) { c.second = -1; }), "collisions of species -1 of 1"},
                   {change([](collision_pair& c) { c.logarithm = 0; }), "the Coulomb logarithm = 0: above 0"},
                   {change([](collision_pair& c) { c.logarithm = infinity; }), "the Coulomb logarithm = inf: above 0"},
                   {change([](collision_pair& c) { c.every = 0; }), "collisions every 0 steps: at least 1"},
                   {[](plan& p) { p.density_scale = 0; }, "collisions need the reference density"},
                   {[](plan& p) { p.coupling = nan; }, "collisions need the reference density"}});
}

TEST(plan_errors, of_scattering_in_gases) {
  plan box = periodic(1, 1, 8, 2);
  box.species_list.push_back({"ions", 1, 1836, pusher::boris});
  box.scatterings = {{.name = "s",
                      .projectiles = 0,
                      .electrons = 0,
                      .ions = 1,
                      .atom_mass = 1837,
                      .density = {0.5},
                      .temperature = {0},
                      .drift = {{{0}, {0}, {0}}},
                      .processes = {{gas_process_kind::ionisation, "ionisation", 0.1, {0.1, 1}, {0, 2}}}}};
  const auto change = [](auto f) { return [f](plan& p) { f(p.scatterings[0]); }; };
  const auto process = [](auto f) { return [f](plan& p) { f(p.scatterings[0].processes[0]); }; };
  const std::string of = "scattering s, ionisation: ";
  const std::string table = of + "a table has two or more entries, as many energies as cross sections";
  const std::string order = of + "energies rise from 0 or more, cross sections are at least 0";
  expect_refusals(
      box,
      {{change([](gas_scattering& g) { g.projectiles = 2; }), "scattering s of species 2 of 2"},
       {change([](gas_scattering& g) { g.ions = 0; }),
        of + "it needs species of electrons and ions of opposite charge"},
       {change([](gas_scattering& g) { g.projectiles = 1; }),
        of + "particles that ionise have the mass of the new electrons"},
       {change([](gas_scattering& g) { g.atom_mass = 0; }), "scattering s: mass of an atom = 0: above 0"},
       {change([](gas_scattering& g) { g.sharing = energy_sharing::opal; }), "scattering s: opal_energy = 0: above 0"},
       {change([](gas_scattering& g) { g.processes = {}; }), "scattering s: it has no process"},
       {process([](gas_process& k) { k.kind = gas_process_kind::attachment; }),
        of + "it needs a species of negative ions with the charge of the particles that attach"},
       {process([](gas_process& k) { k.energy = {0.1}; }), table},
       {process([](gas_process& k) { k.cross_section = {0, 1, 2}; }), table},
       {process([](gas_process& k) { k.energy = {1, 0.1}; }), order},
       {process([](gas_process& k) { k.cross_section = {0, -1}; }), order},
       {process([](gas_process& k) { k.cross_section = {0, nan}; }), order},
       {process([](gas_process& k) { k.loss = -1; }), of + "a loss of -1: at least 0"},
       {process([](gas_process& k) { k.loss = 0.2, k.cross_section = {1, 2}; }),
        of + "a cross section above 0 at 0.1, below the loss of 0.2"},
       {change([](gas_scattering& g) { g.density = {1, 2}; }),
        "scattering s: one density of the gas, or one for each of 8 cells"},
       {change([](gas_scattering& g) { g.density = {infinity}; }),
        "scattering s: the density of the gas = inf: at least 0"},
       {change([](gas_scattering& g) { g.temperature = {-1}; }),
        "scattering s: the temperature of the gas = -1: at least 0"},
       {change([](gas_scattering& g) { g.drift[1] = {nan}; }),
        "scattering s: the drift of the gas = nan: at least -1e+06"}});
}

TEST(plan_errors, of_windows) {
  plan box = between(periodic(2, 1, 24, 2), 0, field_boundary::absorbing, particle_boundary::absorbed,
                     particle_boundary::absorbed);
  box.window = {.speed = 1};
  const std::string without = "window: without plates, conductors in the box and electrostatic fields";
  expect_refusals(
      box, {{[](plan& p) { p.window.speed = -1; }, "window: speed = -1 is above 0 and up to 1, start = 0 at least 0"},
            {[](plan& p) { p.window.speed = nan; }, "window: speed = nan is above 0 and up to 1, start = 0 at least 0"},
            {[](plan& p) { p.window.start = -2; }, "window: speed = 1 is above 0 and up to 1, start = -2 at least 0"},
            {[](plan& p) { p.conductors = {{.nodes = {30}}}; }, without},
            {[](plan& p) {
               emitter e{.centre = {0, 2.4, 0}, .half_width = 0.5, .weight = 0.1};
               e.set_flux({1});
               p.emitters = {e};
             },
             without},
            {[](plan& p) { p.field_boundaries[0] = {}, p.particle_boundaries[0] = {}; },
             "window: the sides of x are not periodic"},
            {[](plan& p) { p.patches[0] = 4; },
             "window: an absorbing layer lies within one patch, of at least 8 cells in x"}});
}

TEST(plan_errors, of_names_list_the_names) {
  const auto message = [](auto parse, const char* name) {
    try {
      parse(name);
    } catch (const input_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(parse_pusher, "euler"), "the pusher \"euler\" is not one of boris, vay, higuera_cary");
  EXPECT_EQ(message(parse_field_boundary, ""),
            "the side of fields \"\" is not one of periodic, conducting, absorbing, axis");
  EXPECT_EQ(message(parse_particle_boundary, "Thermal"),
            "the side of particles \"Thermal\" is not one of periodic, absorbed, reflected, thermal, axis");
  EXPECT_EQ(message(parse_stencil, "lee"), "the stencil \"lee\" is not one of yee, cowan, lehe");
  EXPECT_EQ(parse_stencil("cowan"), stencil::cowan);
  EXPECT_EQ(parse_pusher("vay"), pusher::vay);
  EXPECT_EQ(parse_field_boundary("conducting"), field_boundary::conducting);
  EXPECT_EQ(parse_particle_boundary("reflected"), particle_boundary::reflected);
}

TEST(plan_errors, of_fluxes_are_values_below_0_or_not_finite) {
  emitter e;
  for (const double flux : {-1e-9, nan, infinity}) EXPECT_THROW(e.set_flux({1, flux}), input_error) << flux;
  e.set_flux({});
  EXPECT_TRUE(e.cumulative_flux.empty());
}

TEST(plan, windows_move_when_their_time_has_come) {
  plan p = periodic(1, 1);
  EXPECT_EQ(p.window_shift(1000), 0);
  p.window = {.speed = 0.5, .start = 10 * p.dt};
  EXPECT_EQ(p.window_shift(10), 0);
  for (std::int64_t step = 11; step < 60; ++step)
    EXPECT_EQ(p.window_shift(step), std::int64_t(std::floor(0.5 * double(step - 10) * p.dt / 0.2 * (1 + 1e-12))));
}

TEST(plan, knows_the_side_that_a_plate_lies_on) {
  const plan p = closed_box();
  for (int d = 0; d < 2; ++d)
    for (int side = 0; side < 2; ++side) {
      emitter e{.centre = {2, 2, 0}, .normal = {}};
      e.centre[std::size_t(d)] = side ? p.lengths[d] : 0, e.normal[std::size_t(d)] = side ? -1 : 1;
      EXPECT_EQ(side_of(p, e).d, d);
      EXPECT_EQ(side_of(p, e).side, side);
      e.normal[std::size_t(d)] *= -1;  // out of the box
      EXPECT_EQ(side_of(p, e).side, -1);
    }
  const emitter inside{.centre = {2, 2, 0}, .normal = {1, 0, 0}};
  EXPECT_EQ(side_of(p, inside).side, -1);
  EXPECT_EQ(side_of(periodic(2, 1), {.centre = {0, 2, 0}, .normal = {1, 0, 0}}).side, -1);
}

}  // namespace
}  // namespace plaq::pic
