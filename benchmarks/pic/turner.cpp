// The discharges of Turner et al., Phys. Plasmas 20 (2013) 013507, by a program that shares no code with plaq:
//   bench_turner CASE PARTS RATE KICK PERIODS FROM SEED TABLES
// PARTS: steps in one of the paper. RATE: `null`, a particle is a candidate once a step, with the probability
// 1 - exp(-nu_max dt) of Vahedi and Surendra, Comput. Phys. Commun. 87 (1995) 179; `exact`, it is one nu_max dt times
// on average. KICK: `end`, collisions come after the motion, so with momenta of half a step before; `middle`, between
// two halves of the kick, with E constant in a cell. TABLES: the folder with helium_electrons.txt and helium_ions.txt.
// Prints the density of ions in the middle, 1/m^3, of windows of 32 periods, and the mean of those after period FROM.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using vector = std::array<double, 3>;
constexpr double charge = 1.602176634e-19, electron_mass = 9.1093837e-31, ion_mass = 6.67e-27,
                 permittivity = 8.8541878128e-12, boltzmann = 1.380649e-23, gap = 0.067, frequency = 13.56e6;

struct parameters {
  double voltage, gas, density;
  int cells, steps, per_cell;
};
constexpr parameters cases[] = {{450, 9.64e20, 2.56e14, 128, 400, 512},
                                {200, 3.21e21, 5.12e14, 256, 800, 256},
                                {150, 9.64e21, 5.12e14, 512, 1600, 128},
                                {120, 3.21e22, 3.84e14, 512, 3200, 64}};

/// Cross section in m^2 at energies in eV, linear between them.
struct table {
  double loss = 0;
  std::vector<double> energy, area;
  double operator()(double e) const {
    if (e >= energy.back()) return area.back();
    if (e < energy.front()) return energy.front() < 1e-3 ? area.front() : 0;
    const auto i = std::size_t(std::ranges::upper_bound(energy, e) - energy.begin());
    return area[i - 1] + (e - energy[i - 1]) / (energy[i] - energy[i - 1]) * (area[i] - area[i - 1]);
  }
};

/// Returns the tables of a file of LXCat, whose third lines have the losses.
std::vector<table> read_tables(const std::string& path) {
  std::vector<table> out;
  std::ifstream file(path);
  std::vector<std::string> before;
  for (std::string line; std::getline(file, line);) {
    before.push_back(line);
    if (!line.starts_with("-----")) continue;
    table& next = out.emplace_back();
    if (before[before.size() - 5].starts_with("EXCIT") || before[before.size() - 5].starts_with("IONIZ"))
      next.loss = std::stod(before[before.size() - 3]);
    while (std::getline(file, line) && !line.starts_with("-----")) {
      std::istringstream words(line);
      words >> next.energy.emplace_back() >> next.area.emplace_back();
    }
    before.clear();
  }
  return out;
}

class discharge {
 public:
  discharge(const parameters& of, int parts, bool exact, bool middle, unsigned long seed, const std::string& folder)
      : of_(of),
        dt_(1 / (frequency * of.steps * parts)),
        dx_(gap / of.cells),
        weight_(of.density * dx_ / of.per_cell),
        exact_(exact),
        middle_(middle),
        steps_(of.steps * parts),
        random_(seed),
        of_electrons_(read_tables(folder + "/helium_electrons.txt")),
        of_ions_(read_tables(folder + "/helium_ions.txt")),
        electron_rate_(largest_rate(of_electrons_, electron_mass)),
        ion_rate_(largest_rate(of_ions_, ion_mass / 2)) {
    if (of_electrons_.size() != 4 || of_ions_.size() != 2) throw std::runtime_error(folder + ": tables are missing");
    for (int i = 0; i < of.cells * of.per_cell; ++i) {
      const double x = gap * unit_(random_);
      electrons_.push_back({x, thermal(30000, electron_mass)});
      ions_.push_back({x, thermal(300, ion_mass)});
    }
  }

  /// Returns the mean density of ions in the middle during a period.
  double advance_period() {
    double sum = 0;
    for (int n = 0; n < steps_; ++n, ++step_) {
      const auto ion_density = density(ions_);
      sum += ion_density[std::size_t(of_.cells / 2)];
      solve(ion_density, density(electrons_));
      if (middle_)
        kick(0.5), collide(), kick(0.5);
      else
        kick(1);
      move(electrons_), move(ions_);
      if (!middle_) collide();
    }
    return sum / steps_;
  }

 private:
  struct particle {
    double x;
    vector v;
  };

  vector thermal(double temperature, double mass) {
    const double spread = std::sqrt(boltzmann * temperature / mass);
    return {spread * normal_(random_), spread * normal_(random_), spread * normal_(random_)};
  }
  vector isotropic(double speed) {
    const double c = 2 * unit_(random_) - 1, s = std::sqrt(1 - c * c), phi = 2 * std::numbers::pi * unit_(random_);
    return {speed * c, speed * s * std::cos(phi), speed * s * std::sin(phi)};
  }

  double largest_rate(const std::vector<table>& of, double mass) const {
    double most = 0;
    for (double e = 1e-4; e < 749; e *= 1.0005) {
      double sum = 0;
      for (const table& t : of) sum += t(e);
      most = std::max(most, sum * std::sqrt(2 * e * charge / mass));
    }
    return 1.002 * most * of_.gas;
  }

  std::vector<double> density(const std::vector<particle>& all) const {
    std::vector<double> out(std::size_t(of_.cells + 1));
    for (const particle& p : all) {
      const double u = p.x / dx_;
      const auto i = std::size_t(u);
      out[i] += (1 - (u - double(i))) * weight_ / dx_, out[i + 1] += (u - double(i)) * weight_ / dx_;
    }
    return out;
  }

  /// Sets E in the cells by Thomas's algorithm.
  void solve(const std::vector<double>& ions, const std::vector<double>& electrons) {
    const auto n = std::size_t(of_.cells);
    std::vector<double> phi(n + 1), over(n + 1);
    phi[n] = of_.voltage * std::sin(2 * std::numbers::pi * frequency * dt_ * double(step_));
    for (std::size_t i = 1; i < n; ++i) {
      over[i] = 1 / (2 - over[i - 1]);
      phi[i] = (charge / permittivity * (ions[i] - electrons[i]) * dx_ * dx_ + phi[i - 1]) * over[i];
    }
    for (std::size_t i = n - 1; i > 0; --i) phi[i] += over[i] * phi[i + 1];
    field_.resize(n);
    for (std::size_t i = 0; i < n; ++i) field_[i] = (phi[i] - phi[i + 1]) / dx_;
  }

  void kick(double part) {
    for (auto* all : {&electrons_, &ions_}) {
      const double factor = part * dt_ * (all == &ions_ ? charge / ion_mass : -charge / electron_mass);
      for (particle& p : *all) p.v[0] += factor * field_[std::size_t(p.x / dx_)];
    }
  }

  void move(std::vector<particle>& all) const {
    for (particle& p : all) p.x += p.v[0] * dt_;
    std::erase_if(all, [](const particle& p) { return p.x <= 0 || p.x >= gap; });
  }

  /// Returns the number of candidates among so many particles.
  std::size_t candidates(std::size_t count, double rate) {
    const double expected = double(count) * (exact_ ? rate * dt_ : 1 - std::exp(-rate * dt_));
    return std::size_t(expected + unit_(random_));
  }

  void collide() {
    for (std::size_t left = candidates(electrons_.size(), electron_rate_), all = electrons_.size(); left > 0; --left)
      scatter_electron(std::size_t(unit_(random_) * double(all)));
    for (std::size_t left = candidates(ions_.size(), ion_rate_), all = ions_.size(); left > 0; --left)
      scatter_ion(ions_[std::size_t(unit_(random_) * double(all))]);
  }

  void scatter_electron(std::size_t number) {
    const particle p = electrons_[number];
    const double square = p.v[0] * p.v[0] + p.v[1] * p.v[1] + p.v[2] * p.v[2], speed = std::sqrt(square),
                 energy = 0.5 * electron_mass * square / charge;
    double rest = unit_(random_) * electron_rate_ / (of_.gas * speed);
    for (std::size_t k = 0; k < of_electrons_.size(); ++k) {
      const table& t = of_electrons_[k];
      if (energy < t.loss || (rest -= t(energy)) >= 0) continue;
      vector& v = electrons_[number].v;
      const double left = 2 * charge * (energy - t.loss) / electron_mass;
      if (k == 0) {  // elastic
        const vector atom = thermal(300, ion_mass);
        const vector g{p.v[0] - atom[0], p.v[1] - atom[1], p.v[2] - atom[2]};
        const vector to = isotropic(std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]));
        for (std::size_t c = 0; c < 3; ++c)
          v[c] = (electron_mass * p.v[c] + ion_mass * (atom[c] + to[c])) / (electron_mass + ion_mass);
      } else if (k < 3) {
        v = isotropic(std::sqrt(left));
      } else {
        v = isotropic(std::sqrt(left / 2));
        electrons_.push_back({p.x, isotropic(std::sqrt(left / 2))});
        ions_.push_back({p.x, thermal(300, ion_mass)});
      }
      return;
    }
  }

  void scatter_ion(particle& p) {
    const vector atom = thermal(300, ion_mass), g{p.v[0] - atom[0], p.v[1] - atom[1], p.v[2] - atom[2]};
    const double square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2], speed = std::sqrt(square);
    const double energy = 0.25 * ion_mass * square / charge;  // in the centre of mass
    const double rest = unit_(random_) * ion_rate_ / (of_.gas * speed), isotropically = of_ions_[0](energy);
    if (rest < isotropically) {
      const vector to = isotropic(speed);
      for (std::size_t c = 0; c < 3; ++c) p.v[c] = 0.5 * (p.v[c] + atom[c] + to[c]);
    } else if (rest < isotropically + of_ions_[1](energy)) {
      p.v = atom;
    }
  }

  const parameters of_;
  const double dt_, dx_, weight_;
  const bool exact_, middle_;
  const int steps_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> unit_;
  std::normal_distribution<double> normal_;
  const std::vector<table> of_electrons_, of_ions_;
  const double electron_rate_, ion_rate_;
  std::vector<particle> electrons_, ions_;
  std::vector<double> field_;
  long step_ = 0;
};

}  // namespace

int main(int count, char** words) {
  if (count != 9) {
    std::puts("bench_turner CASE PARTS null|exact end|middle PERIODS FROM SEED TABLES");
    return 2;
  }
  const auto number = [&](int n) { return std::atoi(words[n]); };
  discharge d(cases[number(1) - 1], number(2), words[3] == std::string("exact"), words[4] == std::string("middle"),
              std::strtoul(words[7], nullptr, 10), words[8]);
  std::vector<double> kept;
  for (int period = 32; period <= number(5); period += 32) {
    double sum = 0;
    for (int k = 0; k < 32; ++k) sum += d.advance_period() / 32;
    std::printf("%d %.5g\n", period, sum);
    std::fflush(stdout);
    if (period > number(6)) kept.push_back(sum);
  }
  // The error of the mean from blocks of eight windows, so that neighbours may depend on each other
  const auto mean_of = [](auto begin, auto end) {
    double sum = 0;
    for (auto x = begin; x != end; ++x) sum += *x;
    return sum / double(end - begin);
  };
  const double mean = mean_of(kept.begin(), kept.end());
  const std::size_t blocks = kept.size() / 8;
  double squares = 0, spread = 0;
  for (std::size_t b = 0; b < blocks; ++b)
    squares += std::pow(mean_of(kept.begin() + long(8 * b), kept.begin() + long(8 * b + 8)) - mean, 2);
  for (const double x : kept) spread += (x - mean) * (x - mean);
  std::printf("mean %.4g error %.2g spread %.2g windows %zu\n", mean,
              blocks > 1 ? std::sqrt(squares / double(blocks * (blocks - 1))) : 0,
              std::sqrt(spread / double(std::max<std::size_t>(kept.size(), 2) - 1)), kept.size());
}
