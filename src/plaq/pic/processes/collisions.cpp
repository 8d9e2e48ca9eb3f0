#include "plaq/pic/processes/collisions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "plaq/pic/mesh/streams.hpp"
#include "plaq/pic/processes/cell_lists.hpp"

namespace plaq::pic {

namespace {

using vector = std::array<double, 3>;

double dot(const vector& a, const vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Returns p rotated by an angle, with the azimuth phi around it.
vector rotate_by(const vector& p, double cosine, double phi) {
  const double sine = std::sqrt(std::fmax(0, 1 - cosine * cosine)), across = std::sqrt(p[0] * p[0] + p[1] * p[1]),
               size = std::sqrt(dot(p, p));
  const double a = sine * std::cos(phi), b = sine * std::sin(phi);
  if (across <= 1e-10 * size) return {size * a, size * b, p[2] * cosine};
  return {(p[0] * p[2] * a - p[1] * size * b) / across + p[0] * cosine,
          (p[1] * p[2] * a + p[0] * size * b) / across + p[1] * cosine, -across * a + p[2] * cosine};
}

/// Boost with velocity v and its gamma g.
struct boost_to_centre {
  vector v;
  double g, factor;  ///< (g - 1) / v^2
  explicit boost_to_centre(const vector& velocity) : v(velocity) {
    g = 1 / std::sqrt(1 - dot(v, v));
    factor = g * g / (1 + g);
  }
  /// Returns the momentum q of energy e in the moving frame (sign 1), or back from it (sign -1).
  vector operator()(const vector& q, double e, double sign) const {
    vector out;
    const double by = factor * dot(v, q) - sign * g * e;
    for (std::size_t c = 0; c < 3; ++c) out[c] = q[c] + by * v[c];
    return out;
  }
};

/// Pairs of particles of a cell, and the densities n_1, n_2, n_12 of Perez et al.
struct cell_pairs {
  std::vector<std::array<std::uint32_t, 2>> pairs;
  std::array<double, 2> density{};
  double pair_density = 0;  ///< sum of the smaller weights
};

template <class T>
double density_of(const std::vector<std::uint32_t>& numbers, const particles<T>& all, double volume) {
  double sum = 0;
  for (const auto i : numbers) sum += double(all.w[i]) / volume;
  return sum;
}

/// Pairs the particles of one species in a cell; with an odd number one particle is paired twice.
template <class T>
cell_pairs pair_within(std::vector<std::uint32_t> a, const particles<T>& all, double volume, const stream_id& stream) {
  cell_pairs out;
  shuffle(a, stream, 0);
  out.density[0] = out.density[1] = density_of(a, all, volume);
  const std::size_t half = a.size() / 2;
  out.pairs.reserve(a.size() - half);
  for (std::size_t i = 0; i < a.size() - half; ++i) out.pairs.push_back({a[i], a[a.size() - half + i % half]});
  return out;
}

/// Pairs the particles of two species in a cell; those of the rarer one several times.
template <class T>
cell_pairs pair_between(std::vector<std::uint32_t> a, const particles<T>& all_a, std::vector<std::uint32_t> b,
                        const particles<T>& all_b, double volume, const stream_id& stream) {
  cell_pairs out;
  shuffle(a, stream, 0);
  out.density[0] = density_of(a, all_a, volume);
  shuffle(b, stream, words_per_use);
  out.density[1] = density_of(b, all_b, volume);
  out.pairs.reserve(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    out.pairs.push_back({a[i % a.size()], b[i % b.size()]});
  return out;
}

/// Scatters the pairs of a cell.
template <class T>
void collide_cell(const plan& p, const collision_pair& c, const cell_pairs& cell, particles<T>& all_a,
                  particles<T>& all_b, const stream_id& stream) {
  const species &a = p.species_list[std::size_t(c.first)], &b = p.species_list[std::size_t(c.second)];
  const double density_time = cell.density[0] * cell.density[1] / cell.pair_density * c.every * p.dt;
  const double limit =
      std::cbrt(4 * std::numbers::pi / 3) * p.density_scale * density_time * (a.mass + b.mass) /
      std::max(a.mass * std::pow(cell.density[0], 2.0 / 3), b.mass * std::pow(cell.density[1], 2.0 / 3));
  for (std::size_t k = 0; k < cell.pairs.size(); ++k) {
    const auto [i, j] = cell.pairs[k];
    particle_pair pair{{a.mass, b.mass}, {a.charge, b.charge}, {}};
    for (std::size_t d = 0; d < 3; ++d) pair.u[0][d] = double(all_a.u[d][i]), pair.u[1][d] = double(all_b.u[d][j]);
    const auto words = random_words(stream, 2 * words_per_use + k);
    const auto after = scatter_pair(p, c.logarithm, pair, density_time, limit, words);
    const double weight_a = double(all_a.w[i]), weight_b = double(all_b.w[j]),
                 chance = unit_interval(words[2]) * std::max(weight_a, weight_b);
    for (std::size_t d = 0; d < 3; ++d) {
      if (chance < weight_b) all_a.u[d][i] = T(after[0][d]);
      if (chance < weight_a) all_b.u[d][j] = T(after[1][d]);
    }
  }
}

}  // namespace

double scattering_cosine(double s, double u) {
  if (s < 1e-12) return 1;
  if (s < 0.1) return std::fmax(-1, 1 + s * std::log(1 - u));
  if (s >= 6) return 2 * u - 1;
  const double over =
      s < 3 ? 0.0056958 + s * (0.9560202 + s * (-0.508139 + s * (0.47913906 + s * (-0.12788975 + s * 0.02389567))))
            : std::exp(s) / 3;
  const double a = 1 / over;
  return std::clamp(over * std::log(std::exp(-a) + 2 * u * std::sinh(a)), -1.0, 1.0);
}

std::array<vector, 2> scatter_pair(const plan& p, double logarithm, const particle_pair& pair, double density_time,
                                   double limit, const std::array<std::uint64_t, 4>& words) {
  // Energies and momenta in the laboratory
  std::array<vector, 2> momentum;
  std::array<double, 2> energy;
  vector total{};
  for (std::size_t k = 0; k < 2; ++k) {
    energy[k] = pair.mass[k] * std::sqrt(1 + dot(pair.u[k], pair.u[k]));
    for (std::size_t c = 0; c < 3; ++c) momentum[k][c] = pair.mass[k] * pair.u[k][c], total[c] += momentum[k][c];
  }
  const double total_energy = energy[0] + energy[1];

  // Boost to the centre of mass
  const boost_to_centre boost({total[0] / total_energy, total[1] / total_energy, total[2] / total_energy});
  const vector q = boost(momentum[0], energy[0], 1);
  const double q2 = dot(q, q);
  if (!(q2 > 0)) return pair.u;
  const double q_size = std::sqrt(q2);
  std::array<double, 2> centre_energy;
  for (std::size_t k = 0; k < 2; ++k) centre_energy[k] = boost.g * (energy[k] - dot(boost.v, momentum[k]));

  // Number of collisions s, eq. (21) of Perez et al., and its limit at high density
  const double charges = pair.charge[0] * pair.charge[1], ratio = centre_energy[0] * centre_energy[1] / q2 + 1;
  double s = p.coupling * logarithm * charges * charges * density_time / (energy[0] * energy[1]) * boost.g * q_size /
             total_energy * ratio * ratio;
  const double relative_velocity = q_size * total_energy / (centre_energy[0] * centre_energy[1] * boost.g);
  s = std::fmin(s, limit * relative_velocity);

  // Rotation, and back to the laboratory
  const vector after =
      rotate_by(q, scattering_cosine(s, unit_interval(words[0])), 2 * std::numbers::pi * unit_interval(words[1]));
  const vector opposite_after{-after[0], -after[1], -after[2]};
  const std::array<vector, 2> back{boost(after, centre_energy[0], -1), boost(opposite_after, centre_energy[1], -1)};
  std::array<vector, 2> out;
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t c = 0; c < 3; ++c) out[k][c] = back[k][c] / pair.mass[k];
  return out;
}

template <class T>
void collide_particles(const plan& p, patch<T>& self) {
  const auto is_due = [&](const collision_pair& c) { return self.step % c.every == 0; };
  if (std::ranges::none_of(p.collision_pairs, is_due)) return;
  const patch_grid& m = self.mesh;
  std::vector<cell_lists> lists;
  for (const auto& all : self.species) lists.push_back(list_by_cell(m, all));
  for (std::size_t n = 0; n < p.collision_pairs.size(); ++n) {
    const collision_pair& c = p.collision_pairs[n];
    if (!is_due(c)) continue;
    const auto first = std::size_t(c.first), second = std::size_t(c.second);
    particles<T>&all_a = self.species[first], &all_b = self.species[second];
    for (std::size_t cell = 0; cell < m.size(); ++cell) {
      auto a = lists[first].in_cell(cell);
      if (a.size() < (first == second ? 2 : 1)) continue;
      auto b = first == second ? std::vector<std::uint32_t>() : lists[second].in_cell(cell);
      if (first != second && b.empty()) continue;
      const auto stream = stream_of(p.seed, random_purpose::collisions, std::uint32_t(n),
                                    std::uint64_t(self.number) << 32 | cell, std::uint64_t(self.step));
      const double volume = m.cell_volume(row_of(m, cell));
      cell_pairs pairs = first == second ? pair_within(std::move(a), all_a, volume, stream)
                                         : pair_between(std::move(a), all_a, std::move(b), all_b, volume, stream);
      for (const auto& [i, j] : pairs.pairs) pairs.pair_density += double(std::min(all_a.w[i], all_b.w[j])) / volume;
      if (first == second) pairs.pair_density *= 2;  // each particle is the target of the other
      collide_cell(p, c, pairs, all_a, all_b, stream);
    }
  }
}

template void collide_particles(const plan&, patch<float>&);
template void collide_particles(const plan&, patch<double>&);

}  // namespace plaq::pic
