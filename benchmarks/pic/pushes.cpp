// Pushes a second of one core: whole steps of a warm, uniform, periodic plasma (fields, gather, push, current,
// sort, exchange between patches, record), by the processor time of the process, the best of several samples; and
// of these the parts of the particles. u_th = 0.1, dt = 0.95 of the Courant limit, cells of 0.1 c/w_p. With
// WORKERS above 1 also how much faster these are than one, by the clock on the wall.
//   bench_pushes-SET [DIMENSIONS [CELLS [PATCHES [STEPS [WORKERS]]]]]      cells and patches per dimension
//   bench_pushes-SET discharge [CELLS [PATCHES [STEPS [PER_CELL]]]]
// The latter has electrons of 4 eV and cold ions between two electrodes, electrostatic, order 1, alone and in a gas
// with about the cross sections of helium at 100 mTorr.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/plasma.hpp"

using namespace plaq;
using namespace plaq::pic;

namespace {

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

plan uniform(int dimensions, int order, int cells, int patches) {
  plan p;
  p.dimensions = dimensions, p.order = order;
  for (int d = 0; d < dimensions; ++d) p.cells[d] = cells, p.patches[d] = patches, p.lengths[d] = 0.1 * cells;
  p.dt = 0.95 * p.courant();
  p.species_list = {{"electrons", -1, 1, pusher::boris}};
  return p;
}

std::unique_ptr<plasma> warm(const plan& p, bool single, int per_cell, int workers) {
  auto s = make_plasma(p, comm::communicator(comm::serial_wire()),
                       {.backend = "fiber", .pool = {.workers = workers}, .single = single});
  for (const int patch : s->local_patches()) {
    const auto x = make_positions(p, s->mesh(patch), 0, per_cell, false);
    const std::size_t n = x.size() / std::size_t(p.dimensions);
    const std::vector<double> w(n, p.cell_volume() / per_cell), drift(3 * n), thermal(3 * n, 0.1);
    s->load(patch, 0, {x, w, drift, thermal, false});
  }
  s->start();
  s->advance(2, false);
  return s;
}

/// Seconds of a step, the least of the samples: of processor time, and by the wall's clock.
std::pair<double, double> of_whole_steps(const plan& p, bool single, int per_cell, int steps, int workers) {
  const auto s = warm(p, single, per_cell, workers);
  std::pair best{1e9, 1e9};
  for (int sample = 0; sample < 5; ++sample) {
    const double begin = processor_time();
    const stopwatch watch;
    s->advance(steps, false);
    best = {std::min(best.first, (processor_time() - begin) / steps), std::min(best.second, watch.seconds() / steps)};
  }
  return best;
}

/// Of one patch of 32 cells a side: nanoseconds for each particle of its step, and of sorting it.
std::pair<double, double> of_parts(const plan& p, auto precision, int per_cell) {
  using T = decltype(precision);
  patch<T> self(p, {});
  const auto x = make_positions(p, self.mesh, 0, per_cell, false);
  const std::size_t n = x.size() / std::size_t(p.dimensions);
  const std::vector<double> w(n, p.cell_volume() / per_cell), drift(3 * n), thermal(3 * n, 0.1);
  pic::load(p, self, 0, {x, w, drift, thermal, false});
  double step = 1e9, sort = 1e9;
  for (int sample = 0; sample < 30; ++sample) {
    auto all = self.species[0];
    crossing crossed;
    double begin = processor_time();
    sort_by_cell(self.mesh, all);
    begin = processor_time();
    advance(self.mesh, p.order, {.charge_per_mass = -1, .charge = -1}, self.f, all, crossed);
    step = std::min(step, processor_time() - begin);
    for (int d = 0; d < p.dimensions; ++d)
      for (auto& cell : all.cell[std::size_t(d)]) cell = std::clamp(cell, 0, self.mesh.cells[std::size_t(d)] - 1);
    begin = processor_time();
    sort_by_cell(self.mesh, all);
    sort = std::min(sort, processor_time() - begin);
  }
  return {1e9 * step / double(n), 1e9 * sort / double(n)};
}

// A discharge ---------------------------------------------------------------------------------------------------------

constexpr double density = 5.12e14, reference_length = 0.23486, rest_energy = 510998.95;  ///< 1/m^3, c/w_p in m, eV

gas_process process(gas_process_kind kind, double loss, std::vector<double> energies, std::vector<double> areas) {
  for (double& e : energies) e /= rest_energy;
  for (double& area : areas) area *= density * reference_length;
  return {kind, "some", loss / rest_energy, std::move(energies), std::move(areas)};
}

/// Entries of a table of this size, a straight line on logarithmic scales.
gas_process falling(gas_process_kind kind, int entries, double low, double high, double area, double power) {
  std::vector<double> energies, areas;
  for (int i = 0; i < entries; ++i) {
    energies.push_back(low * std::pow(high / low, double(i) / (entries - 1)));
    areas.push_back(area * std::pow(energies.back(), power));
  }
  return process(kind, 0, energies, areas);
}

plan discharge(int cells, int patches, bool gas) {
  plan p;
  p.dimensions = 1, p.order = 1, p.electrostatic = true;
  p.cells[0] = cells, p.patches[0] = patches, p.lengths[0] = cells * 1.114e-3, p.dt = 0.1177;
  p.field_boundaries[0] = {field_boundary::conducting, field_boundary::conducting};
  p.particle_boundaries[0] = {particle_boundary::absorbed, particle_boundary::absorbed};
  p.species_list = {{"electrons", -1, 1, pusher::boris}, {"ions", 1, 7322, pusher::boris}};
  if (!gas) return p;
  using enum gas_process_kind;
  gas_scattering of_electrons;
  of_electrons.name = "electrons", of_electrons.electrons = 0, of_electrons.ions = 1, of_electrons.atom_mass = 7322;
  of_electrons.density = {3.21e21 / density}, of_electrons.temperature = {0.025852 / rest_energy};
  for (auto& drift : of_electrons.drift) drift = {0};
  gas_scattering of_ions = of_electrons;
  of_ions.name = "ions", of_ions.projectiles = 1, of_ions.electrons = of_ions.ions = -1, of_ions.centre_energies = true;
  of_electrons.processes = {
      process(elastic, 0, {0, 1, 3, 10, 20, 50, 100, 1000},
              {5e-20, 6.5e-20, 7e-20, 5e-20, 3e-20, 1.2e-20, 5e-21, 3e-22}),
      process(excitation, 19.82, {19.82, 20.4, 30, 100, 1000}, {0, 4e-22, 3e-22, 5e-23, 1e-24}),
      process(excitation, 20.61, {20.61, 25, 50, 100, 1000}, {0, 5e-22, 1.7e-21, 1.8e-21, 5e-22}),
      process(ionisation, 24.59, {24.59, 50, 100, 150, 1000}, {0, 2.4e-21, 3.6e-21, 3.7e-21, 1e-21})};
  of_ions.processes = {falling(elastic, 240, 1e-4, 1e4, 7.63e-20, -0.5),
                       falling(backscatter, 240, 1e-4, 1e4, 2e-19, -0.1)};
  p.scatterings = {of_electrons, of_ions};
  return p;
}

void measure_discharge(int cells, int patches, int steps, int per_cell) {
  std::printf("1D electrostatic, %d cells, %d patches, %d of each species per cell\n", cells, patches, per_cell);
  std::printf("precision   gas   M pushes/s   ns/push\n");
  const comm::communicator alone{comm::serial_wire()};  // which the solver of the field uses
  for (const bool single : {false, true})
    for (const bool gas : {false, true}) {
      const plan p = discharge(cells, patches, gas);
      auto s = make_plasma(p, alone, {.backend = "fiber", .pool = {.workers = 1}, .single = single});
      for (const int patch : s->local_patches())
        for (std::size_t k = 0; k < 2; ++k) {
          const auto x = make_positions(p, s->mesh(patch), 0, per_cell, false);
          const std::vector<double> w(x.size(), p.cell_volume() / per_cell), drift(3 * x.size()),
              thermal(3 * x.size(), k ? 2.6e-6 : 2.8e-3);
          s->load(patch, k, {x, w, drift, thermal, false});
        }
      s->start();
      s->advance(steps / 2 + 1, false, {}, false);
      double best = 1e9;
      for (int sample = 0; sample < 5; ++sample) {
        const double begin = processor_time();
        s->advance(steps, false, {}, false);
        best = std::min(best, (processor_time() - begin) / steps);
      }
      double number = 0;
      for (const int patch : s->local_patches())
        for (std::size_t k = 0; k < 2; ++k) number += double(s->particles(patch, k).w.size());
      std::printf("%9s %5s %12.1f %9.1f\n", single ? "single" : "double", gas ? "yes" : "no", 1e-6 * number / best,
                  1e9 * best / number);
      std::fflush(stdout);
    }
}

}  // namespace

int main(int count, char** arguments) {
  const auto given = [&](int at, int otherwise) { return count > at ? std::atoi(arguments[at]) : otherwise; };
  if (count > 1 && std::string(arguments[1]) == "discharge")
    return measure_discharge(given(2, 256), given(3, 4), given(4, 50), given(5, 256)), 0;
  const int dimensions = given(1, 2), cells = given(2, 64), patches = given(3, 2), steps = given(4, 20),
            workers = given(5, 1);
  std::printf("%dD, %d cells and %d patches a side\n", dimensions, cells, patches);
  std::printf("order precision per_cell   M pushes/s    ns/push   of them particles, sort   %d workers over 1\n",
              workers);
  for (const auto& [order, single] : {std::pair(1, true), std::pair(1, false), std::pair(2, true), std::pair(2, false)})
    for (const int per_cell : {16, 64, 256, 1024}) {
      if (std::pow(cells, dimensions) * per_cell > 3e7) continue;
      const plan p = uniform(dimensions, order, cells, patches);
      const plan one = uniform(dimensions, order, cells / patches, 1);
      const int some = std::max(2, steps * 16 / per_cell);
      const auto [processor, wall] = of_whole_steps(p, single, per_cell, some, 1);
      const double faster = workers > 1 ? wall / of_whole_steps(p, single, per_cell, some, workers).second : 1;
      const double seconds = processor / (std::pow(cells, dimensions) * per_cell);
      const auto [step, sort] = single ? of_parts(one, float(), per_cell) : of_parts(one, double(), per_cell);
      std::printf("%5d %9s %8d %12.1f %10.1f %12.1f %8.1f %12.2f\n", order, single ? "single" : "double", per_cell,
                  1e-6 / seconds, 1e9 * seconds, step, sort, faster);
      std::fflush(stdout);
    }
}
