#include "plaq/pic/processes/reactions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/streams.hpp"
#include "plaq/pic/processes/cell_lists.hpp"

namespace plaq::pic {

namespace {

using vector = std::array<double, 3>;

double dot(const vector& a, const vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

struct totals {
  vector momentum{};
  double energy = 0;
};
totals totals_of(const particle_couple& of) {
  totals out;
  for (std::size_t k = 0; k < 2; ++k) {
    out.energy += of.mass[k] * std::sqrt(1 + dot(of.u[k], of.u[k]));
    for (std::size_t c = 0; c < 3; ++c) out.momentum[c] += of.mass[k] * of.u[k][c];
  }
  return out;
}

/// Reactions of one kind in a patch and a step.
template <class T>
class reaction_step {
 public:
  reaction_step(const plan& p, patch<T>& self, std::size_t number)
      : p_(p), self_(self), number_(number), by_(p.reactions[number]) {}

  void run() {
    const patch_grid& m = self_.mesh;
    const cell_lists a = list_by_cell(m, first()), b = list_by_cell(m, second());
    std::array<std::vector<std::uint32_t>, 2> vanished;
    for (std::size_t cell = 0; cell < m.size(); ++cell) {
      auto numbers_a = a.in_cell(cell), numbers_b = b.in_cell(cell);
      if (numbers_a.empty() || numbers_b.empty()) continue;
      react_in_cell(cell, std::move(numbers_a), std::move(numbers_b), vanished);
    }
    double* row = self_.row.data() + record::reaction(p_, number_);
    for (std::size_t k = 0; k < 2; ++k) {
      particles<T>& all = k ? second() : first();
      std::ranges::sort(vanished[k], std::greater<>());
      for (const auto i : vanished[k]) all.remove(i, p_.dimensions);
      row[2 + k] += double(vanished[k].size());
      if (!vanished[k].empty()) self_.sorted = false;
    }
    for (std::size_t k = 0; k < by_.products.size(); ++k) {
      const auto s = std::size_t(by_.products[k]);
      particles<T>& all = self_.species[s];
      double* arrived = self_.next_row.data() + record::at(s, 0);
      arrived[record::emitted] += double(made_[k].size());
      for (const T w : made_[k].w) arrived[record::emitted_weight] += double(w);
      all.append(made_[k], p_.dimensions);
    }
  }

 private:
  particles<T>& first() { return self_.species[std::size_t(by_.first)]; }
  particles<T>& second() { return self_.species[std::size_t(by_.second)]; }
  double mass(int s) const { return p_.species_list[std::size_t(s)].mass; }

  void react_in_cell(std::size_t cell, std::vector<std::uint32_t> a, std::vector<std::uint32_t> b,
                     std::array<std::vector<std::uint32_t>, 2>& vanished) {
    const auto stream = stream_of(p_.seed, random_purpose::reactions, std::uint32_t(number_),
                                  std::uint64_t(self_.number) << 32 | std::uint64_t(cell), std::uint64_t(self_.step));
    shuffle(a, stream, 0);
    shuffle(b, stream, words_per_use);
    const std::size_t pairs = std::max(a.size(), b.size());
    double number_a = 0, number_b = 0, paired = 0;
    for (const auto i : a) number_a += double(first().w[i]);
    for (const auto i : b) number_b += double(second().w[i]);
    for (std::size_t n = 0; n < pairs; ++n)
      paired += double(std::min(first().w[a[n % a.size()]], second().w[b[n % b.size()]]));
    const double per_rate = p_.dt * number_a * number_b / (self_.mesh.cell_volume(row_of(self_.mesh, cell)) * paired);
    for (std::size_t n = 0; n < pairs; ++n) {
      const auto i = a[n % a.size()], j = b[n % b.size()];
      const T weight = std::min(first().w[i], second().w[j]);
      if (!(weight > 0)) continue;  // one has vanished
      const auto words = random_words(stream, 2 * words_per_use + n);
      if (!react_pair(i, j, weight, per_rate, words)) continue;
      if (!((first().w[i] -= weight) > 0)) vanished[0].push_back(i);
      if (!((second().w[j] -= weight) > 0)) vanished[1].push_back(j);
    }
  }

  /// Lets a pair react or not; makes the products.
  bool react_pair(std::size_t i, std::size_t j, T weight, double per_rate, const std::array<std::uint64_t, 4>& words) {
    particle_couple pair{{mass(by_.first), mass(by_.second)}, {}};
    for (std::size_t c = 0; c < 3; ++c) pair.u[0][c] = double(first().u[c][i]), pair.u[1][c] = double(second().u[c][j]);
    const double energy = centre_energy(pair), probability = by_.rate_at(energy) * per_rate;
    if (probability > 1)
      throw runtime_failure("reaction " + by_.name + ": a particle would react more than once in a step");
    if (!(unit_interval(words[0]) < probability) || energy + by_.released < 0) return false;
    std::vector<double> masses;
    for (const int s : by_.products) masses.push_back(mass(s));
    const double cosine = 2 * unit_interval(words[1]) - 1, sine = std::sqrt(std::fmax(0, 1 - cosine * cosine)),
                 azimuth = 2 * std::numbers::pi * unit_interval(words[2]);
    const auto u = product_momenta(pair, masses, energy + by_.released,
                                   {sine * std::cos(azimuth), sine * std::sin(azimuth), cosine});
    for (std::size_t k = 0; k < masses.size(); ++k) {
      particles<T>& to = made_[k];
      if (k == 0)
        to.append(first(), i, p_.dimensions);
      else
        to.append(second(), j, p_.dimensions);
      for (std::size_t c = 0; c < 3; ++c) to.u[c].back() = T(u[k][c]);
      to.w.back() = weight;
      to.id.resize(to.w.size() - 1);
      if (p_.species_list[std::size_t(by_.products[k])].tracked)
        to.id.push_back(self_.new_id(p_));
      else
        to.id.clear();
    }
    double* row = self_.row.data() + record::reaction(p_, number_);
    row[0] += 1, row[1] += double(weight);
    return true;
  }

  const plan& p_;
  patch<T>& self_;
  const std::size_t number_;
  const reaction& by_;
  std::array<particles<T>, 2> made_;
};

}  // namespace

double centre_energy(const particle_couple& of) {
  const auto [momentum, energy] = totals_of(of);
  const double masses = of.mass[0] + of.mass[1];
  // invariant mass - masses, without the difference of nearly equal numbers
  double kinetic = 0;
  for (std::size_t k = 0; k < 2; ++k) {
    const double u2 = dot(of.u[k], of.u[k]);
    kinetic += of.mass[k] * u2 / (std::sqrt(1 + u2) + 1);
  }
  const double difference = kinetic * (kinetic + 2 * masses) - dot(momentum, momentum);
  return std::fmax(difference, 0) / (std::sqrt(std::fmax(difference, 0) + masses * masses) + masses);
}

std::array<vector, 2> product_momenta(const particle_couple& of, const std::vector<double>& masses, double energy,
                                      const vector& direction) {
  std::array<vector, 2> out{};
  const auto [momentum, total] = totals_of(of);
  if (masses.size() == 1)
    for (std::size_t c = 0; c < 3; ++c) out[0][c] = momentum[c] / masses[0];
  if (masses.size() != 2) return out;
  const double all = masses[0] + masses[1];
  const double q = std::sqrt(energy * (energy + 2 * masses[0]) * (energy + 2 * masses[1]) * (energy + 2 * all)) /
                   (2 * (energy + all));
  const double invariant = std::sqrt(total * total - dot(momentum, momentum));
  vector centre;
  for (std::size_t c = 0; c < 3; ++c) centre[c] = momentum[c] / invariant;
  const double g = std::sqrt(1 + dot(centre, centre));
  for (std::size_t k = 0; k < 2; ++k) {
    vector u;
    for (std::size_t c = 0; c < 3; ++c) u[c] = (k ? -q : q) / masses[k] * direction[c];
    const double along = dot(u, centre) / (1 + g) + std::sqrt(1 + dot(u, u));
    for (std::size_t c = 0; c < 3; ++c) out[k][c] = u[c] + along * centre[c];
  }
  return out;
}

template <class T>
void react(const plan& p, patch<T>& self) {
  for (std::size_t n = 0; n < p.reactions.size(); ++n) reaction_step<T>(p, self, n).run();
}

template void react(const plan&, patch<float>&);
template void react(const plan&, patch<double>&);

}  // namespace plaq::pic
