#include "plaq/pic/mesh/gas_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace plaq::pic {

namespace {

/// Returns the velocity of a kinetic energy.
double velocity(double energy, double mass) {
  const double e = energy / mass;
  return std::sqrt(e * (e + 2)) / (1 + e);
}
/// Number of the bin of an energy on a logarithmic scale: eight in a factor of two.
std::uint64_t bin_of(double energy) { return std::bit_cast<std::uint64_t>(energy) >> 49; }
double lower_edge(std::uint64_t bin) { return std::bit_cast<double>(bin << 49); }

}  // namespace

double relative_velocity(const gas_scattering& by, double energy, double mass) {
  if (!by.centre_energies) return velocity(energy, mass);
  return velocity(energy * (energy + 2 * (mass + by.atom_mass)) / (2 * by.atom_mass), mass);
}

double cross_section(const gas_process& process, double energy) {
  const double* at = process.energy.data();
  if (energy < *at) return process.begins_at_zero() ? process.cross_section.front() : 0;
  if (energy >= process.energy.back()) return process.cross_section.back();
  std::size_t i = 0;  // of the last entry up to the energy, by halves without a branch
  for (std::size_t n = process.energy.size(), half; n > 1; n -= half) {
    half = n / 2;
    i = at[i + half] <= energy ? i + half : i;
  }
  const double part = (energy - at[i]) / (at[i + 1] - at[i]);
  return process.cross_section[i] + part * (process.cross_section[i + 1] - process.cross_section[i]);
}

double rate_coefficient(const gas_scattering& by, const gas_process& process, double energy, double velocity,
                        double mass) {
  if (energy > process.energy.back()) velocity = relative_velocity(by, process.energy.back(), mass);
  return cross_section(process, energy) * velocity;
}

void set_rate_bounds(gas_scattering& by, double mass) {
  std::vector<double> energies;
  for (const gas_process& k : by.processes) energies.insert(energies.end(), k.energy.begin(), k.energy.end());
  const double most = std::ranges::max(energies);
  double least = most;
  for (const double e : energies)
    if (e > 0) least = std::min(least, e);
  by.first_bin = bin_of(least);
  by.rate_bounds.assign(std::size_t(bin_of(most) + 2 - by.first_bin), 0);
  for (std::size_t k = 0; k < by.rate_bounds.size(); ++k) energies.push_back(lower_edge(by.first_bin + k));
  std::ranges::sort(energies);
  // Between two energies of any table: the larger of the cross sections at both ends, at the velocity of the upper one.
  double largest = 0, below = 0;
  for (const double e : energies) {
    double sum = 0;
    for (const gas_process& k : by.processes)
      sum += std::max(cross_section(k, below), cross_section(k, e)) *
             relative_velocity(by, std::min(e, k.energy.back()), mass);
    largest = std::max(largest, sum);
    if (bin_of(below) >= by.first_bin) by.rate_bounds[std::size_t(bin_of(below) - by.first_bin)] = largest;
    below = e;
  }
  by.largest_rate = largest;
}

double rate_bound(const gas_scattering& by, double energy) {
  const std::uint64_t bin = std::max(bin_of(energy), by.first_bin) - by.first_bin;
  return bin + 1 < by.rate_bounds.size() ? by.rate_bounds[std::size_t(bin)] : by.largest_rate;
}

}  // namespace plaq::pic
