#include "plaq/pic/ionisation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "plaq/pic/streams.hpp"

namespace plaq::pic {

double cross_section(const ionising& how, double energy) {
  const auto above = std::ranges::upper_bound(how.energy, energy);
  if (above == how.energy.begin()) return 0;
  if (above == how.energy.end()) return how.cross_section.back();
  const auto i = std::size_t(above - how.energy.begin());
  const double part = (energy - how.energy[i - 1]) / (how.energy[i] - how.energy[i - 1]);
  return how.cross_section[i - 1] + part * (how.cross_section[i] - how.cross_section[i - 1]);
}

namespace {

/// A momentum per mass of this kinetic energy over mc^2, anywhere.
std::array<double, 3> somewhere(double energy, std::uint64_t first, std::uint64_t second) {
  const double u = std::sqrt(energy * (energy + 2)), z = 2 * unit_interval(first) - 1,
               phi = 2 * std::numbers::pi * unit_interval(second);
  const double across = u * std::sqrt(1 - z * z);
  return {across * std::cos(phi), across * std::sin(phi), u * z};
}

}  // namespace

template <class T>
void ionise(const plan& p, patch<T>& me) {
  const block& m = me.mesh;
  std::vector<std::size_t> there;
  for (const auto& k : me.kinds) there.push_back(k.size());
  for (std::size_t n = 0; n < p.ionisations.size(); ++n) {
    const ionising& how = p.ionisations[n];
    const auto by = std::size_t(how.by), electrons = std::size_t(how.electrons), ions = std::size_t(how.ions);
    const double mass = p.kinds[by].mass, electron = p.kinds[electrons].mass;
    const double spread = std::sqrt(how.temperature / p.kinds[ions].mass);
    const auto stream =
        stream_of(p.seed, draws::ionisation, std::uint32_t(n), std::uint64_t(me.number), std::uint64_t(me.step));
    for (std::size_t i = 0; i < there[by]; ++i) {
      double u2 = 0;
      for (std::size_t c = 0; c < 3; ++c) u2 += double(me.kinds[by].u[c][i]) * double(me.kinds[by].u[c][i]);
      const double gamma = std::sqrt(1 + u2), energy = mass * u2 / (gamma + 1);
      if (energy < how.energy[0]) continue;
      std::size_t cell = 0;
      for (int d = p.dimensions; how.density.size() > 1 && d-- > 0;)
        cell = cell * std::size_t(p.cells[d]) + std::size_t(m.first[d] + me.kinds[by].cell[d][i]);
      const double often = how.density[cell] * cross_section(how, energy) * std::sqrt(u2) / gamma * p.dt;
      const auto word = random_words(stream, 3 * i);
      if (unit_interval(word[0]) >= -std::expm1(-often)) continue;
      const auto more = random_words(stream, 3 * i + 1), last = random_words(stream, 3 * i + 2);
      const double left = energy - how.loss, share = unit_interval(word[1]);
      const auto old = somewhere((1 - share) * left / mass, word[2], word[3]),
                 fresh = somewhere(share * left / electron, more[0], more[1]);
      const auto first = normal_pair(more[2], more[3]), second = normal_pair(last[0], last[1]);
      const std::array<double, 3> heavy{spread * first[0], spread * first[1], spread * second[0]};
      for (std::size_t c = 0; c < 3; ++c) me.kinds[by].u[c][i] = T(old[c]);
      for (const auto& [s, u] : {std::pair(electrons, fresh), std::pair(ions, heavy)}) {
        particles<T> born;
        born.append(me.kinds[by], i, p.dimensions);
        for (std::size_t c = 0; c < 3; ++c) born.u[c][0] = T(u[c]);
        born.id.clear();
        if (p.kinds[s].tracked) born.id.push_back(me.new_id(p));
        me.kinds[s].append(born, p.dimensions);
        me.next[record::at(s, record::emitted)] += 1;
        me.next[record::at(s, record::emitted_weight)] += double(born.w[0]);
      }
    }
  }
}

template void ionise(const plan&, patch<float>&);
template void ionise(const plan&, patch<double>&);

}  // namespace plaq::pic
