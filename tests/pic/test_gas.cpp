// Scattering by gases: conservation laws, rates, products.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/processes/gas.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;
using vector = std::array<double, 3>;

double squared_size(const vector& a) { return std::inner_product(a.begin(), a.end(), a.begin(), 0.0); }
double kinetic(const vector& u, double mass) { return mass * squared_size(u) / (1 + std::sqrt(1 + squared_size(u))); }

gas_process process(gas_process_kind kind, double loss, std::vector<double> energy, std::vector<double> areas) {
  return {kind, "some", loss, std::move(energy), std::move(areas)};
}
/// Electrons 0 and ions 1 in a gas of density 0.7 at rest.
plan with_gas(std::vector<gas_process> processes, int dimensions = 1, int patches = 1) {
  plan p = periodic(dimensions, 1, 8, patches);
  p.species_list.push_back({"ions", 1, 1836, pusher::boris});
  p.species_list.push_back({"negative", -1, 1838, pusher::boris});
  p.scatterings = {{.name = "gas",
                    .projectiles = 0,
                    .electrons = 0,
                    .ions = 1,
                    .negative_ions = 2,
                    .atom_mass = 1837,
                    .density = {0.7},
                    .temperature = {0},
                    .drift = {{{0}, {0}, {0}}},
                    .processes = std::move(processes)}};
  p.check();
  p.complete();
  return p;
}
/// Electrons of momentum u along y in every cell.
patch<double> beam(const plan& p, int n, double u, const point& at = {}) {
  patch<double> self(p, at);
  self.row.assign(record::length(p), 0);
  self.species[0] = some_particles<double>(self.mesh, n, 0);
  for (double& x : self.species[0].u[1]) x = u;
  std::ranges::fill(self.species[0].w, 1.0);
  sort_by_cell(self.mesh, self.species[0]);
  return self;
}
double counted(const plan& p, const patch<double>& self, std::size_t k = 0) {
  return self.row[record::process(p, 0, k)];
}
double electron_energy(const patch<double>& self) {
  double sum = 0;
  const auto& all = self.species[0];
  for (std::size_t i = 0; i < all.size(); ++i) sum += kinetic({all.u[0][i], all.u[1][i], all.u[2][i]}, 1);
  return sum;
}

TEST(gas, cross_sections_are_those_of_the_table) {
  const auto inelastic = process(gas_process_kind::excitation, 3e-5, {3e-5, 1e-3, 2e-3}, {0, 2, 1});
  EXPECT_EQ(cross_section(inelastic, 2e-5), 0);
  EXPECT_DOUBLE_EQ(cross_section(inelastic, 1.5e-3), 1.5);
  EXPECT_EQ(cross_section(inelastic, 1), 1);
  EXPECT_EQ(cross_section(process(gas_process_kind::elastic, 0, {1e-3, 2e-3}, {3, 1}), 0), 3);
}

TEST(gas, the_bound_of_rates_is_above_them_at_any_energy) {
  for (const bool centre : {false, true}) {
    gas_scattering g;
    g.atom_mass = 3, g.centre_energies = centre;
    g.processes = {process(gas_process_kind::elastic, 0, {0, 1e-3, 0.3, 0.5}, {1, 4, 0.1, 7}),
                   process(gas_process_kind::excitation, 0.01, {0.01, 0.05, 2}, {0, 9, 1})};
    set_rate_bounds(g, 2);
    double most = 0;
    for (double e = 1e-6; e < 100; e *= 1.01) {
      double sum = 0;
      for (const auto& k : g.processes) sum += rate_coefficient(g, k, e, relative_velocity(g, e, 2), 2);
      most = std::max(most, sum);
      EXPECT_LE(most, rate_bound(g, e)) << e;
      EXPECT_LE(rate_bound(g, e), g.largest_rate) << e;
    }
    EXPECT_GT(most, 0.5 * g.largest_rate);
    EXPECT_LT(rate_bound(g, 1e-4), 0.1 * g.largest_rate);
  }
}

// With the recoil of the atom, energy but for the loss and momentum are those before, at any mass and speed.
TEST(gas, a_collision_conserves_energy_and_momentum_with_the_recoil) {
  for (const double atom_mass : {1e-2, 1.0, 2.5, 7296.0})
    for (const double size : {1e-4, 0.3, 5.0}) {
      const vector u{0.6 * size, -0.5 * size, 0.7 * size};
      const double mass = 1.5, loss = 1e-3 * std::min(atom_mass, 1.0) * size * size;
      const double energy = kinetic(u, mass);
      for (int n = 0; n < 20; ++n) {
        vector direction{drawn(1, n), drawn(2, n), drawn(3, n)};
        const double length = std::sqrt(squared_size(direction));
        for (double& x : direction) x /= length;
        const vector after = scatter_from_atom(u, mass, atom_mass, loss, direction);
        vector recoil;
        for (std::size_t c = 0; c < 3; ++c) recoil[c] = mass * (u[c] - after[c]) / (atom_mass + loss);
        EXPECT_NEAR(kinetic(after, mass) + kinetic(recoil, atom_mass + loss), energy - loss, 1e-11 * energy)
            << atom_mass;
      }
    }
}

TEST(gas, an_ion_of_the_atoms_mass_is_at_rest_after_backscattering) {
  plan p = with_gas({process(gas_process_kind::backscatter, 0, {0, 1}, {1e4, 1e4})});
  p.scatterings[0].atom_mass = 1, p.scatterings[0].centre_energies = true;
  p.complete();
  patch<double> self = beam(p, 50, 0.3);
  scatter_in_gases(p, self);
  EXPECT_GT(counted(p, self), 49);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(self.species[0].u[1][i], 0, 1e-15);
}

// Candidates are a Poisson process: counts within four standard errors of N n k dt, k of each process.
TEST(gas, processes_have_their_rates) {
  const double u = 0.05, v = u / std::sqrt(1 + u * u);
  plan p = with_gas({process(gas_process_kind::elastic, 0, {0, 1}, {3, 3}),
                     process(gas_process_kind::excitation, 1e-9, {1e-9, 1}, {1, 1})});
  p.scatterings[0].atom_mass = 1e9;  // so that energies stay
  p.dt = 3;
  p.complete();
  patch<double> self = beam(p, 20000, u);
  scatter_in_gases(p, self);
  for (const std::size_t k : {0, 1}) {
    const double expected = 20000 * 0.7 * (k ? 1 : 3) * v * p.dt;
    EXPECT_NEAR(counted(p, self, k), expected, 4 * std::sqrt(expected)) << k;
    EXPECT_EQ(self.row[record::process(p, 0, k) + 1], counted(p, self, k));  // of weight 1
  }
  vector sum{}, square{};  // isotropic: means 0, squares a third, of those that scatter
  double scattered = 0;
  for (std::size_t i = 0; i < 20000; ++i) {
    if (self.species[0].u[1][i] == u) continue;
    ++scattered;
    for (std::size_t c = 0; c < 3; ++c) {
      const double x = self.species[0].u[c][i] / u;
      sum[c] += x, square[c] += x * x;
    }
  }
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(sum[c] / scattered, 0, 4 / std::sqrt(3 * scattered));
    EXPECT_NEAR(square[c] / scattered, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / scattered));
  }
}

// Atoms that drift and have a temperature: many collisions bring particles of their mass to both.
TEST(gas, particles_come_to_the_drift_and_temperature_of_the_gas) {
  plan p = with_gas({process(gas_process_kind::elastic, 0, {0, 1}, {1, 1})});
  p.scatterings[0].processes[0].energy[1] = 0.02;  // few candidates that do nothing
  p.scatterings[0].atom_mass = 1, p.scatterings[0].temperature = {1e-4}, p.scatterings[0].drift[2] = {0.02};
  p.complete();
  patch<double> self = beam(p, 2000, 0.05);
  p.dt = 40;
  for (self.step = 0; self.step < 40; ++self.step) scatter_in_gases(p, self);
  for (std::size_t c = 0; c < 3; ++c) {
    double mean = 0, square = 0;
    for (const double x : self.species[0].u[c]) mean += x / 2000, square += x * x / 2000;
    EXPECT_NEAR(mean, c == 2 ? 0.02 : 0, 4 * std::sqrt(1e-4 / 2000)) << c;
    EXPECT_NEAR(square - mean * mean, 1e-4, 4e-4 * std::sqrt(2.0 / 2000)) << c;
  }
}

TEST(gas, ionisation_costs_its_energy_with_any_sharing) {
  const double u = 0.02, loss = 5e-5;
  for (const auto sharing :
       {energy_sharing::equal, energy_sharing::random, energy_sharing::opal, energy_sharing::none}) {
    plan p = with_gas({process(gas_process_kind::ionisation, loss, {5e-5, 1}, {400, 400})});
    p.scatterings[0].sharing = sharing, p.scatterings[0].opal_energy = 3e-5;
    patch<double> self = beam(p, 2000, u);
    const double before = electron_energy(self);
    std::ranges::fill(self.next_row, 0.0);
    scatter_in_gases(p, self);
    const double products = counted(p, self);
    ASSERT_GT(products, 300);
    EXPECT_EQ(double(self.species[0].size()), 2000 + products);
    EXPECT_EQ(double(self.species[1].size()), products);
    for (const std::size_t s : {0, 1}) EXPECT_EQ(self.next_row[record::at(s, record::emitted)], products);
    EXPECT_NEAR(electron_energy(self), before - products * loss, 1e-12 * before);
    for (std::size_t i = 0; i < self.species[1].size(); ++i) {
      EXPECT_EQ(self.species[1].x[0][i], self.species[0].x[0][2000 + i]);
      const auto& e = self.species[0].u;
      const double given = kinetic({e[0][2000 + i], e[1][2000 + i], e[2][2000 + i]}, 1);
      const double left = kinetic({0, u, 0}, 1) - loss;
      EXPECT_LE(given, (sharing == energy_sharing::none     ? 0
                        : sharing == energy_sharing::random ? 1
                                                            : 0.5) *
                               left * (1 + 1e-12) +
                           1e-20);
    }
  }
}

// <1 - cos> of Vahedi and Surendra's law is 2/ln(1 + e) - 2/e, e in eV.
TEST(gas, the_law_of_vahedi_and_surendra_has_its_mean_cosine) {
  const double ev = 40, energy = ev / 510998.95069, u = std::sqrt(energy * (energy + 2));
  plan p = with_gas({process(gas_process_kind::elastic, 0, {0, 2 * energy}, {1e3, 1e3})});
  p.scatterings[0].law = scattering_law::vahedi_surendra, p.scatterings[0].atom_mass = 1e12;
  p.dt = 0.01 / (0.7 * p.scatterings[0].largest_rate);
  patch<double> self = beam(p, 400000, u);
  scatter_in_gases(p, self);
  double n = 0, sum = 0, square = 0;
  for (const double x : self.species[0].u[1])
    if (const double loss = 1 - x / u; loss != 0) ++n, sum += loss, square += loss * loss;
  const double mean = sum / n, error = std::sqrt((square / n - mean * mean) / n);
  EXPECT_GT(n, 2000);
  EXPECT_NEAR(mean, 2 / std::log1p(ev) - 2 / ev, 4 * error);
}

TEST(gas, attachment_replaces_an_electron_by_an_ion) {
  plan p = with_gas({process(gas_process_kind::attachment, 0, {0, 1}, {400, 400})});
  patch<double> self = beam(p, 1000, 0.02);
  scatter_in_gases(p, self);
  const double n = counted(p, self);
  EXPECT_GT(n, 100);
  EXPECT_EQ(double(self.species[0].size()), 1000 - n);
  EXPECT_EQ(double(self.species[2].size()), n);
  for (const double x : self.species[2].u[1]) EXPECT_NEAR(x, 0.02 / 1838, 1e-8);
}

TEST(gas, the_density_is_that_of_the_cell) {
  plan p = with_gas({process(gas_process_kind::ionisation, 0, {0, 1}, {1e4, 1e4})}, 2, 2);
  patch<double> self = beam(p, 60, 1, {1, 1, 0});
  const int x = self.mesh.first[0] + 1, y = self.mesh.first[1] + 2;
  p.scatterings[0].density.assign(std::size_t(p.cells[0] * p.cells[1]), 0);
  p.scatterings[0].density[std::size_t(x + p.cells[0] * y)] = 1;
  scatter_in_gases(p, self);
  EXPECT_FALSE(self.species[1].empty());
  for (std::size_t i = 0; i < self.species[1].size(); ++i) {
    EXPECT_EQ(self.species[1].cell[0][i], 1);
    EXPECT_EQ(self.species[1].cell[1][i], 2);
  }
}

// A discharge with all processes, V(t) at a side: the same bits on any ranks, with patches that move and a stop.
TEST(gas, results_do_not_depend_on_ranks) {
  plan p = with_gas({process(gas_process_kind::elastic, 0, {0, 1}, {3, 3}),
                     process(gas_process_kind::excitation, 1e-3, {1e-3, 1}, {0, 30}),
                     process(gas_process_kind::ionisation, 2e-3, {2e-3, 1}, {0, 50}),
                     process(gas_process_kind::attachment, 0, {0, 1}, {0.2, 0.2})},
                    1, 4);
  p = between(p, 0, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::absorbed);
  p.cells[0] = 16, p.lengths[0] = 3.2, p.electrostatic = true;
  p.scatterings[0].temperature = {1e-6};
  std::vector<double> volts;
  for (int n = 1; n <= 24; ++n) volts.insert(volts.end(), {0.0, 0.3 * std::sin(0.4 * n)});
  const auto body = [&](bool move) {
    return [&, move](plasma& s) {
      fill(s, {.per_cell = 8, .thermal = 0.1});
      s.start();
      auto rows = s.advance(9, true, std::span(volts).first(18));
      if (move) s.balance({.by = "hilbert_cut"});
      const auto more = s.advance(15, true, std::span(volts).subspan(18));
      rows.insert(rows.end(), more.begin(), more.end());
      return rows;
    };
  };
  const run one = on(1, p, {}, body(false));
  EXPECT_EQ(one.errors, std::vector<std::string>(1));
  for (std::size_t k = 0; k < 4; ++k) {
    double sum = 0;
    for (std::size_t row = 0; row < rows_of(one, p); ++row) sum += at(one, p, row, record::process(p, 0, k));
    EXPECT_GT(sum, 3) << k;
  }
  for (const int ranks : {2, 3}) EXPECT_TRUE(same(one, on(ranks, p, {}, body(true)))) << ranks;
}

}  // namespace
}  // namespace plaq::pic
