#include "plaq/pic/processes/secondary.hpp"

#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/streams.hpp"
#include "plaq/pic/processes/energy.hpp"

namespace plaq::pic {

std::array<double, 3> wall_momentum(double spread, const std::array<std::uint64_t, 4>& word, int d, int side) {
  const auto along = normal_pair(word[0], word[1]);
  std::array<double, 3> u;
  u[d] = (side ? -1 : 1) * spread * std::sqrt(-2 * std::log(above_zero(word[2])));
  u[(d + 1) % 3] = spread * along[0], u[(d + 2) % 3] = spread * along[1];
  return u;
}

double mean_number(const secondary_emission& by, double energy, double cosine) {
  const auto& e = by.energy;
  const double at = std::clamp(energy, e.front(), e.back());
  const auto i = std::min(std::size_t(std::ranges::upper_bound(e, at) - e.begin()), e.size() - 1) - 1;
  const double part = (at - e[i]) / (e[i + 1] - e[i]), place = std::clamp(cosine, 0.0, 1.0) * double(by.cosines - 1);
  const auto j = std::min(std::size_t(place), by.cosines - 2);
  const double across = place - double(j);
  const auto entry = [&](std::size_t m, std::size_t n) { return by.number[m * by.cosines + n]; };
  return (1 - part) * ((1 - across) * entry(i, j) + across * entry(i, j + 1)) +
         part * ((1 - across) * entry(i + 1, j) + across * entry(i + 1, j + 1));
}

template <class T>
void emit_secondaries(const plan& p, patch<T>& self, const impact& of) {
  constexpr std::uint64_t draws = 64;  // of an impact: more than secondary_emission::most
  for (std::size_t k = 0; k < p.secondaries.size(); ++k) {
    const secondary_emission& by = p.secondaries[k];
    if (by.projectiles != int(of.s) || !by.at[of.d][of.side]) continue;
    const double u2 = of.u[0] * of.u[0] + of.u[1] * of.u[1] + of.u[2] * of.u[2];
    const double energy = p.species_list[of.s].mass * u2 / (std::sqrt(1 + u2) + 1),
                 cosine = u2 > 0 ? std::abs(of.u[std::size_t(of.d)]) / std::sqrt(u2) : 1;
    const auto stream = stream_of(p.seed, random_purpose::secondary, std::uint32_t(k), std::uint64_t(self.number),
                                  std::uint64_t(self.step));
    const double chance = unit_interval(random_words(stream, draws * of.number)[0]);
    const double mean = mean_number(by, energy, cosine);
    check(mean <= secondary_emission::most, "an impact on a side would emit more than 50 particles");
    const auto count = std::uint64_t(mean + chance);
    const auto s = std::size_t(by.emitted);
    const double spread = std::sqrt(by.temperature / p.species_list[s].mass);
    for (std::uint64_t n = 0; n < count; ++n) {
      const auto u = wall_momentum(spread, random_words(stream, draws * of.number + 1 + n), of.d, of.side);
      particles<T>& out = self.born[s];
      for (std::size_t d = 0; d < std::size_t(p.dimensions); ++d)
        out.cell[d].push_back(of.cell[d]), out.x[d].push_back(T(of.x[d]));
      for (std::size_t c = 0; c < 3; ++c) out.u[c].push_back(T(u[c]));
      out.w.push_back(T(of.weight));
      if (p.species_list[s].tracked) out.id.push_back(self.new_id(p));
      self.row[record::at(s, record::emitted)] += 1;
      self.row[record::at(s, record::emitted_weight)] += double(out.w.back());
      self.row[record::at(s, record::emitted_energy)] += of.weight * kinetic_energy(u, p.species_list[s].mass);
      self.arrived_charge[2 * std::size_t(of.d) + std::size_t(of.side)] -= p.species_list[s].source() * of.weight;
    }
  }
}

template void emit_secondaries(const plan&, patch<float>&, const impact&);
template void emit_secondaries(const plan&, patch<double>&, const impact&);

}  // namespace plaq::pic
