#include "plaq/pic/processes/ionisation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "plaq/pic/mesh/streams.hpp"

namespace plaq::pic {

double cross_section(const ionisation_process& process, double energy) {
  const auto above = std::ranges::upper_bound(process.energy, energy);
  if (above == process.energy.begin()) return 0;
  if (above == process.energy.end()) return process.cross_section.back();
  const auto i = std::size_t(above - process.energy.begin());
  const double part = (energy - process.energy[i - 1]) / (process.energy[i] - process.energy[i - 1]);
  return process.cross_section[i - 1] + part * (process.cross_section[i] - process.cross_section[i - 1]);
}

namespace {

using vector = std::array<double, 3>;

/// Returns a momentum per mass of this kinetic energy over mc^2, in a direction at random.
vector isotropic_momentum(double energy, std::uint64_t first, std::uint64_t second) {
  const double u = std::sqrt(energy * (energy + 2)), z = 2 * unit_interval(first) - 1,
               phi = 2 * std::numbers::pi * unit_interval(second);
  const double across = u * std::sqrt(1 - z * z);
  return {across * std::cos(phi), across * std::sin(phi), u * z};
}

/// Adds a particle of species s with momentum u at particle i of the projectiles.
template <class T>
void add_product(const plan& p, patch<T>& self, std::size_t s, const vector& u, const particles<T>& projectiles,
                 std::size_t i) {
  particles<T> product;
  product.append(projectiles, i, p.dimensions);
  for (std::size_t c = 0; c < 3; ++c) product.u[c][0] = T(u[c]);
  product.id.clear();
  if (p.species_list[s].tracked) product.id.push_back(self.new_id(p));
  self.species[s].append(product, p.dimensions);
  self.next_row[record::at(s, record::emitted)] += 1;
  self.next_row[record::at(s, record::emitted_weight)] += double(product.w[0]);
}

}  // namespace

template <class T>
void ionise(const plan& p, patch<T>& self) {
  const patch_grid& m = self.mesh;
  std::vector<std::size_t> count;  // of each species before the step
  for (const auto& s : self.species) count.push_back(s.size());
  for (std::size_t n = 0; n < p.ionisations.size(); ++n) {
    const ionisation_process& process = p.ionisations[n];
    const auto projectiles = std::size_t(process.projectiles), electrons = std::size_t(process.electrons),
               ions = std::size_t(process.ions);
    const double mass = p.species_list[projectiles].mass, electron_mass = p.species_list[electrons].mass;
    const double spread = std::sqrt(process.temperature / p.species_list[ions].mass);
    const auto stream = stream_of(p.seed, random_purpose::ionisation, std::uint32_t(n), std::uint64_t(self.number),
                                  std::uint64_t(self.step));
    for (std::size_t i = 0; i < count[projectiles]; ++i) {
      // Energy and chance
      particles<T>& all = self.species[projectiles];
      double u2 = 0;
      for (std::size_t c = 0; c < 3; ++c) u2 += double(all.u[c][i]) * double(all.u[c][i]);
      const double gamma = std::sqrt(1 + u2), energy = mass * u2 / (gamma + 1);
      if (energy < process.energy[0]) continue;
      std::size_t cell = 0;
      for (int d = p.dimensions; process.density.size() > 1 && d-- > 0;)
        cell = cell * std::size_t(p.cells[d]) + std::size_t(m.first[d] + all.cell[d][i]);
      const double expected = process.density[cell] * cross_section(process, energy) * std::sqrt(u2) / gamma * p.dt;
      const auto word = random_words(stream, 3 * i);
      if (unit_interval(word[0]) >= -std::expm1(-expected)) continue;

      // Shares of the energy that is left
      const auto more = random_words(stream, 3 * i + 1), last = random_words(stream, 3 * i + 2);
      const double left = energy - process.binding_energy, share = unit_interval(word[1]);
      const vector projectile_u = isotropic_momentum((1 - share) * left / mass, word[2], word[3]),
                   electron_u = isotropic_momentum(share * left / electron_mass, more[0], more[1]);
      const auto first = normal_pair(more[2], more[3]), second = normal_pair(last[0], last[1]);
      const vector ion_u{spread * first[0], spread * first[1], spread * second[0]};

      for (std::size_t c = 0; c < 3; ++c) all.u[c][i] = T(projectile_u[c]);
      add_product(p, self, electrons, electron_u, self.species[projectiles], i);
      add_product(p, self, ions, ion_u, self.species[projectiles], i);
    }
  }
}

template void ionise(const plan&, patch<float>&);
template void ionise(const plan&, patch<double>&);

}  // namespace plaq::pic
