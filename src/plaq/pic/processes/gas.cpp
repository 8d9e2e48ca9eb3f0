#include "plaq/pic/processes/gas.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "plaq/pic/mesh/streams.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/processes/energy.hpp"

namespace plaq::pic {

namespace {

using vector = std::array<double, 3>;

constexpr double electron_rest_energy = 510998.95069;  ///< eV, CODATA 2022

double dot(const vector& a, const vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Returns u of a particle in a frame that moves with `by`, which is a momentum per mass too.
vector in_frame(const vector& u, const vector& by) {
  const double g = std::sqrt(1 + dot(u, u)), frame = std::sqrt(1 + dot(by, by));
  const double along = dot(u, by) / (1 + frame) - g;
  return {u[0] + along * by[0], u[1] + along * by[1], u[2] + along * by[2]};
}
vector opposite(const vector& u) { return {-u[0], -u[1], -u[2]}; }

/// Returns the kinetic energy in the centre of mass, of a projectile of this kinetic energy and an atom at rest.
double energy_in_centre(double energy, double mass, double atom_mass) {
  const double all = mass + atom_mass, twice = 2 * atom_mass * energy;
  return twice / (std::sqrt(all * all + twice) + all);
}
vector unit_vector(double cosine, double azimuth) {
  const double sine = std::sqrt(std::fmax(0, 1 - cosine * cosine));
  return {sine * std::cos(azimuth), sine * std::sin(azimuth), cosine};
}
vector isotropic_direction(std::uint64_t first, std::uint64_t second) {
  return unit_vector(2 * unit_interval(first) - 1, 2 * std::numbers::pi * unit_interval(second));
}
/// Returns the direction at an angle to u.
vector turned(const vector& u, double cosine, double azimuth) {
  const double size = std::sqrt(dot(u, u)), across = std::sqrt(u[0] * u[0] + u[1] * u[1]);
  const vector n = unit_vector(cosine, azimuth);
  if (!(across > 1e-10 * size)) return {n[0], n[1], u[2] < 0 ? -n[2] : n[2]};
  const double a = across / size, c = u[2] / size, x = u[0] / across, y = u[1] / across;
  return {n[0] * x * c - n[1] * y + n[2] * x * a, n[0] * y * c + n[1] * x + n[2] * y * a, n[2] * c - n[0] * a};
}

/// Random numbers of a candidate, four at a time.
class candidate_words {
 public:
  static constexpr std::uint64_t blocks = 4;  ///< of each candidate
  candidate_words(const stream_id& stream, std::uint64_t candidate) : stream_(stream), first_(blocks * candidate) {}
  std::array<std::uint64_t, 4> block(std::uint64_t n) const { return random_words(stream_, first_ + n); }

 private:
  const stream_id& stream_;
  std::uint64_t first_;
};

/// Returns the direction of an electron of this energy after a process, from its direction u before.
vector direction_by_law(scattering_law law, const vector& u, double energy, std::uint64_t first, std::uint64_t second) {
  const double e = energy * electron_rest_energy;
  if (law == scattering_law::isotropic || e < 1e-6) return isotropic_direction(first, second);
  const double cosine = (2 + e - 2 * std::pow(1 + e, unit_interval(first))) / e;
  return turned(u, std::clamp(cosine, -1.0, 1.0), 2 * std::numbers::pi * unit_interval(second));
}

/// Returns the share of the energy left that the new electron gets.
double share_of_new_electron(const gas_scattering& by, double left, std::uint64_t word) {
  const double r = unit_interval(word);
  switch (by.sharing) {
    case energy_sharing::equal: return 0.5;
    case energy_sharing::random: return r;
    case energy_sharing::none: return 0;
    case energy_sharing::opal: break;
  }
  return left > 0 ? by.opal_energy / left * std::tan(r * std::atan(0.5 * left / by.opal_energy)) : 0.5;
}

/// Momentum per mass of an energy in a direction.
vector momentum_of(double energy, double mass, const vector& direction) {
  const double e = energy / mass, u = std::sqrt(e * (e + 2));
  return {u * direction[0], u * direction[1], u * direction[2]};
}

double at_cell(const std::vector<double>& profile, std::size_t cell) { return profile[profile.size() > 1 ? cell : 0]; }

/// Candidate for a collision: a particle of the cell.
struct candidate {
  std::size_t i;
  std::array<std::uint64_t, 4> first;  ///< words of its first block
  bool scattered = false;
};

/// Bound of the length of three normal numbers, by normal_pair of words with 53 bits.
constexpr double largest_normal = 12.2;

/// Scattering of a species in one gas, in a patch and a step.
template <class T>
class gas_step {
 public:
  gas_step(const plan& p, patch<T>& self, std::size_t number)
      : p_(p),
        self_(self),
        number_(number),
        by_(p.scatterings[number]),
        mass_(p.species_list[std::size_t(by_.projectiles)].mass),
        magnetic_(is_magnetic(p, self.f)) {}

  /// Scatters the first `count` particles, cell by cell, but those that are removed, and flags those that it removes.
  void scatter(std::size_t count, std::vector<bool>& removed) {
    if (by_.negative_ions >= 0) removed.resize(count);
    for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
      point cell{};
      for (int d = 0; d < p_.dimensions; ++d) cell[d] = projectiles().cell[d][begin];
      end = end_of_cell(cell, begin, count);
      scatter_cell(cell, begin, end, removed);
    }
  }

 private:
  particles<T>& projectiles() { return self_.species[std::size_t(by_.projectiles)]; }

  /// Returns where the particles of a cell end, which begin there and are sorted by cell: steps that double, then
  /// halves.
  std::size_t end_of_cell(const point& cell, std::size_t begin, std::size_t count) {
    const auto& cells = projectiles().cell;
    const auto in_cell = [&](std::size_t i) {
      for (int d = 0; d < p_.dimensions; ++d)
        if (cells[d][i] != cell[d]) return false;
      return true;
    };
    std::size_t inside = begin, step = 1;
    for (; inside + step < count && in_cell(inside + step); step *= 2) inside += step;
    for (; step > 0; step /= 2)
      if (inside + step < count && in_cell(inside + step)) inside += step;
    return inside + 1;
  }

  void scatter_cell(const point& cell, std::size_t begin, std::size_t end, std::vector<bool>& removed) {
    cell_ = 0;
    for (int d = p_.dimensions; d-- > 0;)
      cell_ = cell_ * std::size_t(p_.cells[d]) + std::size_t(self_.mesh.first[d] + cell[d]);
    const double expected = at_cell(by_.density, cell_) * by_.largest_rate * p_.dt;  // candidates of a particle
    if (!(expected > 0)) return;
    const auto stream =
        stream_of(p_.seed, random_purpose::gas, std::uint32_t(number_),
                  std::uint64_t(self_.number) << 32 | std::uint64_t(self_.mesh.index(cell)), std::uint64_t(self_.step));
    // Candidates on a line on which each particle has a unit: a Poisson process. They lie far apart in memory, which is
    // asked for all of them before the first one is needed.
    candidates_.clear();
    double place = 0;
    for (std::uint64_t n = 0;; ++n) {
      const auto first = candidate_words(stream, n).block(0);
      place -= std::log(above_zero(first[0])) / expected;
      if (!(place < double(end - begin))) break;
      const std::size_t i = begin + std::size_t(place);
      candidates_.push_back({i, first});
      projectiles().for_each_array(projectiles(), p_.dimensions,
                                   [i](const auto& array, const auto&) { __builtin_prefetch(array.data() + i); });
    }
    if (candidates_.empty()) return;
    now_.clear();
    for (const candidate& one : candidates_) now_.append(projectiles(), one.i, p_.dimensions);
    move_momenta(now_, std::size_t(by_.projectiles), 1);
    fastest_atom_ = largest_normal * std::sqrt(at_cell(by_.temperature, cell_) / by_.atom_mass);
    for (std::size_t c = 0; c < 3; ++c) fastest_atom_ += std::abs(at_cell(by_.drift[c], cell_));
    for (std::size_t n = 0; n < candidates_.size(); ++n) {
      candidate& one = candidates_[n];
      if (!removed.empty() && removed[one.i]) continue;
      if (n > 0 && candidates_[n - 1].i == one.i) {  // has been scattered already, perhaps
        for (std::size_t c = 0; c < 3; ++c) now_.u[c][n] = now_.u[c][n - 1];
        one.scattered = candidates_[n - 1].scattered;
      }
      if (scatter_candidate(n, candidate_words(stream, n))) removed[one.i] = true;
    }
    move_momenta(now_, std::size_t(by_.projectiles), -1);
    for (std::size_t n = 0; n < candidates_.size(); ++n)
      for (std::size_t c = 0; c < 3 && candidates_[n].scattered; ++c)
        projectiles().u[c][candidates_[n].i] = now_.u[c][n];
  }

  /// Scatters candidate n or not; returns whether it is attached.
  bool scatter_candidate(std::size_t n, const candidate_words& words) {
    const auto i = candidates_[n].i;
    const auto& first = candidates_[n].first;
    const vector now{double(now_.u[0][n]), double(now_.u[1][n]), double(now_.u[2][n])};
    double rest = unit_interval(first[1]) * by_.largest_rate;
    if (rest > bound_of_rates(now)) return false;  // as for most ions, before more numbers are drawn
    const auto more = words.block(1);
    const vector atom = atom_momentum(first, more), at_atom = in_frame(now, atom);
    const double energy = kinetic_energy(at_atom, mass_);
    const double in_table = by_.centre_energies ? energy_in_centre(energy, mass_, by_.atom_mass) : energy;
    const double velocity = relative_velocity(by_, in_table, mass_);
    for (std::size_t k = 0; k < by_.processes.size(); ++k) {
      rest -= rate_coefficient(by_, by_.processes[k], in_table, velocity, mass_);
      if (rest >= 0) continue;
      if (energy_in_centre(energy, mass_, by_.atom_mass) < by_.processes[k].loss) return false;
      double* counted = self_.row.data() + record::process(p_, number_, k);
      counted[0] += 1, counted[1] += double(projectiles().w[i]);
      lost_ = kinetic_energy(now, mass_);
      const bool attached = carry_out(by_.processes[k], n, at_atom, energy, atom, words);
      counted[2] += double(projectiles().w[i]) * lost_;
      return attached;
    }
    return false;
  }

  /// Returns a bound of the rates of a particle with any atom of the cell: momenta add at most as rapidities.
  double bound_of_rates(const vector& u) const {
    const double size = std::sqrt(dot(u, u)), atom = fastest_atom_;
    const double most = size * std::sqrt(1 + atom * atom) + atom * std::sqrt(1 + size * size);
    const double energy = kinetic_energy({most, 0, 0}, mass_);
    return rate_bound(by_, by_.centre_energies ? energy_in_centre(energy, mass_, by_.atom_mass) : energy);
  }

  vector atom_momentum(const std::array<std::uint64_t, 4>& first, const std::array<std::uint64_t, 4>& more) const {
    const auto a = normal_pair(first[2], first[3]), b = normal_pair(more[0], more[1]);
    const double spread = std::sqrt(at_cell(by_.temperature, cell_) / by_.atom_mass);
    vector out{spread * a[0], spread * a[1], spread * b[0]};
    for (std::size_t c = 0; c < 3; ++c) out[c] += at_cell(by_.drift[c], cell_);
    return out;
  }

  bool carry_out(const gas_process& process, std::size_t n, const vector& at_atom, double energy, const vector& atom,
                 const candidate_words& words) {
    const auto angles = words.block(2);
    switch (process.kind) {
      case gas_process_kind::ionisation: ionise(process, n, at_atom, energy, atom, angles, words.block(3)); break;
      case gas_process_kind::attachment: attach(n, at_atom, atom); return true;
      case gas_process_kind::backscatter:
        set_momentum(n, scatter_from_atom(at_atom, mass_, by_.atom_mass, 0, opposite(turned(at_atom, 1, 0))), atom);
        break;
      default: {
        const vector to = direction_by_law(by_.law, at_atom, energy - process.loss, angles[0], angles[1]);
        set_momentum(n, scatter_from_atom(at_atom, mass_, by_.atom_mass, process.loss, to), atom);
      }
    }
    return false;
  }

  void ionise(const gas_process& process, std::size_t n, const vector& at_atom, double energy, const vector& atom,
              const std::array<std::uint64_t, 4>& angles, const std::array<std::uint64_t, 4>& more) {
    const double left = std::fmax(energy - process.loss, 0), share = share_of_new_electron(by_, left, more[0]);
    const double kept = (1 - share) * left, given = share * left;
    const vector first = direction_by_law(by_.law, at_atom, kept, angles[0], angles[1]),
                 second = direction_by_law(by_.law, at_atom, given, angles[2], angles[3]);
    set_momentum(n, momentum_of(kept, mass_, first), atom);
    add_product(by_.electrons, n, in_frame(momentum_of(given, mass_, second), opposite(atom)));
    add_product(by_.ions, n, atom);
  }
  /// The ion has the momentum of both.
  void attach(std::size_t n, const vector& at_atom, const vector& atom) {
    const double all = mass_ * std::sqrt(1 + dot(at_atom, at_atom)) + by_.atom_mass, size = mass_ / all;
    vector u{size * at_atom[0], size * at_atom[1], size * at_atom[2]};  // a velocity
    const double g = 1 / std::sqrt(1 - dot(u, u));
    for (double& x : u) x *= g;
    add_product(by_.negative_ions, n, in_frame(u, opposite(atom)));
  }

  /// Moves momenta of species s by half a step forward (1) or back (-1). Those of particles are of half a step ago, and
  /// collisions happen now.
  void move_momenta(particles<T>& of, std::size_t s, double sign) {
    const species& k = p_.species_list[s];
    kick(self_.mesh, p_.order,
         {.scheme = k.scheme, .charge_per_mass = k.charge / k.mass, .at_nodes = p_.at_nodes, .magnetic = magnetic_},
         self_.f, of, 0.5 * sign * p_.dt);
  }
  /// Sets the momentum of candidate n from that in the frame of the atom.
  void set_momentum(std::size_t n, const vector& at_atom, const vector& atom) {
    const vector now = in_frame(at_atom, opposite(atom));
    for (std::size_t c = 0; c < 3; ++c) now_.u[c][n] = T(now[c]);
    candidates_[n].scattered = true;
    lost_ -= kinetic_energy(now, mass_);
  }
  /// Adds a particle of a species where candidate n is.
  void add_product(int species, std::size_t n, const vector& now) {
    const auto s = std::size_t(species);
    lost_ -= kinetic_energy(now, p_.species_list[s].mass);
    particles<T> product;
    product.append(projectiles(), candidates_[n].i, p_.dimensions);
    for (std::size_t c = 0; c < 3; ++c) product.u[c][0] = T(now[c]);
    move_momenta(product, s, -1);
    product.id.clear();
    if (p_.species_list[s].tracked) product.id.push_back(self_.new_id(p_));
    self_.species[s].append(product, p_.dimensions);
    self_.next_row[record::at(s, record::emitted)] += 1;
    self_.next_row[record::at(s, record::emitted_weight)] += double(product.w[0]);
  }

  const plan& p_;
  patch<T>& self_;
  const std::size_t number_;
  const gas_scattering& by_;
  const double mass_;
  const bool magnetic_;
  std::size_t cell_ = 0;               ///< of the box
  double lost_ = 0;                    ///< energy of the particles of a collision before it, less that after it
  double fastest_atom_ = 0;            ///< bound of the momenta per mass of atoms in the cell
  std::vector<candidate> candidates_;  ///< of a cell
  particles<T> now_;                   ///< copies of the candidates, with their momenta at this time
};

}  // namespace

vector scatter_from_atom(const vector& u, double mass, double atom_mass, double loss, const vector& direction) {
  // Kinetic energy and momentum in the centre of mass
  const double energy = kinetic_energy(u, mass), before = energy_in_centre(energy, mass, atom_mass);
  const double k = std::fmax(before - loss, 0), excited = atom_mass + loss, all = mass + excited;
  const double q = std::sqrt(k * (k + 2 * mass) * (k + 2 * excited) * (k + 2 * all)) / (2 * (k + all));
  // Boost with the momentum per mass of the centre of mass
  const double invariant = before + mass + atom_mass;
  const vector centre{mass * u[0] / invariant, mass * u[1] / invariant, mass * u[2] / invariant};
  vector out{q / mass * direction[0], q / mass * direction[1], q / mass * direction[2]};
  return in_frame(out, opposite(centre));
}

template <class T>
void scatter_in_gases(const plan& p, patch<T>& self) {
  if (p.scatterings.empty()) return;
  std::vector<std::size_t> count;  // of each species before the step
  for (const auto& s : self.species) count.push_back(s.size());
  std::vector<std::vector<bool>> removed(self.species.size());
  for (std::size_t n = 0; n < p.scatterings.size(); ++n) {
    const auto s = std::size_t(p.scatterings[n].projectiles);
    gas_step<T>(p, self, n).scatter(count[s], removed[s]);
  }
  for (std::size_t s = 0; s < removed.size(); ++s)
    for (std::size_t i = removed[s].size(); i-- > 0;)
      if (removed[s][i]) self.species[s].remove(i, p.dimensions);
}

template void scatter_in_gases(const plan&, patch<float>&);
template void scatter_in_gases(const plan&, patch<double>&);

}  // namespace plaq::pic
