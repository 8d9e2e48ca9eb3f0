#include "plaq/pic/mesh/gas_plan.hpp"

#include <algorithm>
#include <cmath>

namespace plaq::pic {

namespace {

/// Returns the velocity of a kinetic energy.
double velocity(double energy, double mass) {
  const double e = energy / mass;
  return std::sqrt(e * (e + 2)) / (1 + e);
}
/// Returns the relative velocity at an energy of the tables: that of the projectile in the rest frame of the atom.
double relative_velocity(const gas_scattering& by, double energy, double mass) {
  if (!by.centre_energies) return velocity(energy, mass);
  return velocity(energy * (energy + 2 * (mass + by.atom_mass)) / (2 * by.atom_mass), mass);
}

}  // namespace

double cross_section(const gas_process& process, double energy) {
  const auto above = std::ranges::upper_bound(process.energy, energy);
  if (above == process.energy.begin()) return process.begins_at_zero() ? process.cross_section.front() : 0;
  if (above == process.energy.end()) return process.cross_section.back();
  const auto i = std::size_t(above - process.energy.begin());
  const double part = (energy - process.energy[i - 1]) / (process.energy[i] - process.energy[i - 1]);
  return process.cross_section[i - 1] + part * (process.cross_section[i] - process.cross_section[i - 1]);
}

double rate_coefficient(const gas_scattering& by, const gas_process& process, double energy, double mass) {
  return cross_section(process, energy) * relative_velocity(by, std::min(energy, process.energy.back()), mass);
}

double largest_rate_coefficient(const gas_scattering& by, double mass) {
  std::vector<double> energies;
  for (const gas_process& k : by.processes) energies.insert(energies.end(), k.energy.begin(), k.energy.end());
  std::ranges::sort(energies);
  // Between two energies of any table: the larger of the cross sections at both ends, at the velocity of the upper one.
  double largest = 0, below = 0;
  for (const double e : energies) {
    double sum = 0;
    for (const gas_process& k : by.processes)
      sum += std::max(cross_section(k, below), cross_section(k, e)) *
             relative_velocity(by, std::min(e, k.energy.back()), mass);
    largest = std::max(largest, sum), below = e;
  }
  return largest;
}

}  // namespace plaq::pic
