// Coulomb collisions: conservation laws and rates.
#include <gtest/gtest.h>

#include <cmath>

#include "plans.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/processes/collisions.hpp"

namespace plaq::pic {
namespace {

using namespace test;

double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

plan colliding() {
  plan p = periodic(1, 1, 8, 1);
  p.species_list.push_back({"heavy", 1, 4, pusher::boris});
  p.coupling = 1e-3, p.density_scale = 1e9;
  return p;
}

TEST(collisions, of_a_pair_conserve_momentum_and_energy) {
  const plan p = colliding();
  for (std::uint64_t n = 0; n < 200; ++n) {
    particle_pair pair{{1 + 0.5 * drawn(1, n), 3 + 2 * drawn(2, n)}, {-1, 2}, {}};
    for (std::size_t c = 0; c < 3; ++c) pair.u[0][c] = 3 * drawn(3 + c, n), pair.u[1][c] = 0.1 * drawn(6 + c, n);
    const auto after = scatter_pair(p, 10, pair, 50, 1e9, random_words({.seed = n}, 0));
    double before_e = 0, after_e = 0, change = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double before = pair.mass[0] * pair.u[0][c] + pair.mass[1] * pair.u[1][c];
      EXPECT_NEAR(pair.mass[0] * after[0][c] + pair.mass[1] * after[1][c], before, 2e-13);
      change += std::abs(after[0][c] - pair.u[0][c]);
    }
    for (std::size_t k = 0; k < 2; ++k) {
      before_e += pair.mass[k] * std::sqrt(1 + dot(pair.u[k], pair.u[k]));
      after_e += pair.mass[k] * std::sqrt(1 + dot(after[k], after[k]));
    }
    EXPECT_NEAR(after_e, before_e, 1e-12 * before_e);
    EXPECT_GT(change, 1e-6);
  }
}

// Particles at rest to each other do not collide. The mean cosine is exp(-s) (Nanbu), within 3 % of 1 and 5 standard
// errors.
TEST(collisions, scattering_angles_have_their_mean) {
  const plan p = colliding();
  const particle_pair alike{{1, 1}, {-1, -1}, {{{0.1, 0, 0}, {0.1, 0, 0}}}};
  for (const auto& u : scatter_pair(p, 10, alike, 1, 1, {})) EXPECT_NEAR(u[0], 0.1, 1e-15);
  EXPECT_EQ(scattering_cosine(0, 0.3), 1);
  for (const double s : {0.01, 0.05, 0.3, 1.0, 2.5, 4.0, 8.0}) {
    double sum = 0;
    const int n = 40000;
    for (int i = 0; i < n; ++i) {
      const double c = scattering_cosine(s, unit_interval(random_words({.seed = 5}, std::uint64_t(i))[0]));
      EXPECT_LE(std::abs(c), 1);
      sum += c;
    }
    EXPECT_NEAR(sum / n, std::exp(-s), 0.03 * (1 - std::exp(-s)) + 5 * 0.6 / std::sqrt(double(n))) << s;
  }
}

/// Returns a patch with so many particles of each species in a cell, of thermal momenta [species][direction].
patch<double> warm(const plan& p, int per_cell, const std::array<std::array<double, 3>, 2>& thermal) {
  patch<double> self(p, {});
  const auto x = make_positions(p, self.mesh, 0, per_cell, false);
  for (std::size_t s = 0; s < p.species_list.size(); ++s) {
    std::vector<double> w(x.size(), p.cell_volume() / per_cell), none(3 * x.size()), spread;
    for (std::size_t i = 0; i < x.size(); ++i) spread.insert(spread.end(), thermal[s].begin(), thermal[s].end());
    load(p, self, s, {x, w, none, spread, false});
  }
  return self;
}
/// Returns m <u_c^2> of a species.
double temperature(const plan& p, const patch<double>& self, std::size_t s, std::size_t c) {
  double sum = 0;
  for (const double u : self.species[s].u[c]) sum += u * u;
  return p.species_list[s].mass * sum / double(self.species[s].size());
}

// Two species of temperatures T and 4 T relax at Spitzer's rate: dT_a/dt = nu (T_b - T_a), nu = (2/3)
// sqrt(2/pi) r n L q^4 m_a^(1/2) m_b^(1/2) / (m_a T_b + m_b T_a)^(3/2), r = coupling. 24000 particles of each have
// a standard error of 3 %. A step of a part s of the time between collisions turns the slowest pairs round at
// once, which costs some s^(1/3) of the rate, here 5 %.
TEST(collisions, temperatures_relax_at_spitzers_rate) {
  plan p = colliding();
  const double cold = 1e-4, hot = 4e-4;
  p.collision_pairs = {
      {.first = 0, .second = 1, .logarithm = 10}, {.first = 0, .second = 0}, {.first = 1, .second = 1}};
  patch<double> self = warm(p, 3000,
                            {{{std::sqrt(cold), std::sqrt(cold), std::sqrt(cold)},
                              {std::sqrt(hot / 4), std::sqrt(hot / 4), std::sqrt(hot / 4)}}});
  const auto rate = [&](double a, double b) {
    return 2.0 / 3 * std::sqrt(2 / std::numbers::pi) * p.coupling * 10 * std::sqrt(4.0) / std::pow(b + 4 * a, 1.5);
  };
  const auto mean = [&](std::size_t s) {
    return (temperature(p, self, s, 0) + temperature(p, self, s, 1) + temperature(p, self, s, 2)) / 3;
  };
  double a = mean(0), b = mean(1);
  p.dt = 0.0003 / rate(a, b);
  const double energy = a + b, before = b - a;
  for (self.step = 0; self.step < 300; ++self.step) {
    collide_particles(p, self);
    const double nu = rate(a, b) * p.dt, middle_a = a + 0.5 * nu * (b - a), middle_b = b - 0.5 * nu * (b - a);
    const double half = rate(middle_a, middle_b) * p.dt * (middle_b - middle_a);
    a += half, b -= half;
  }
  EXPECT_NEAR((before - (mean(1) - mean(0))) / (before - (b - a)), 0.95, 0.09);
  EXPECT_GT(before - (b - a), 0.15 * before);
  EXPECT_NEAR(mean(0) + mean(1), energy, 1e-5 * energy);  // of non-relativistic energies
}

// A species that is a fifth hotter along x than across: d(T_x - T_y)/dt = -3 nu (T_x - T_y), nu = 2 r L n q^4 /
// (15 sqrt(pi) m^(1/2) T^(3/2)) of Trubnikov; 10 % is four standard errors for 24000 particles.
TEST(collisions, a_species_becomes_isotropic_at_its_rate) {
  plan p = colliding();
  p.species_list.pop_back();
  p.collision_pairs = {{.first = 0, .second = 0, .logarithm = 10, .every = 2}};
  const double t = 1e-4;
  patch<double> self = warm(p, 3001, {{{std::sqrt(1.4 * t), std::sqrt(t), std::sqrt(t)}, {}}});
  const double all = (temperature(p, self, 0, 0) + temperature(p, self, 0, 1) + temperature(p, self, 0, 2)) / 3;
  const double nu = 2 * p.coupling * 10 / (15 * std::sqrt(std::numbers::pi)) / std::pow(all, 1.5);
  p.dt = 0.001 / nu;
  const auto gap = [&] {
    return temperature(p, self, 0, 0) - 0.5 * (temperature(p, self, 0, 1) + temperature(p, self, 0, 2));
  };
  const double before = gap();
  for (self.step = 0; self.step < 200; ++self.step) collide_particles(p, self);
  EXPECT_NEAR(std::log(before / gap()) / (3 * nu * 200 * p.dt), 1, 0.1);
}

// Particles of weights 1 and 10: the heavier is deflected in one collision of ten.
TEST(collisions, temperatures_relax_with_different_weights) {
  plan p = colliding();
  p.collision_pairs = {{.first = 0, .second = 1, .logarithm = 10}};
  patch<double> self = warm(p, 500, {{{0.01, 0.01, 0.01}, {0.0025, 0.0025, 0.0025}}});
  for (double& w : self.species[1].w) w *= 10;
  std::array<double, 2> before{};
  for (std::size_t s = 0; s < 2; ++s)
    before[s] = temperature(p, self, s, 0) + temperature(p, self, s, 1) + temperature(p, self, s, 2);
  p.dt = 20;
  for (self.step = 0; self.step < 50; ++self.step) collide_particles(p, self);
  std::array<double, 2> after{};
  for (std::size_t s = 0; s < 2; ++s)
    after[s] = temperature(p, self, s, 0) + temperature(p, self, s, 1) + temperature(p, self, s, 2);
  EXPECT_LT(after[0], 0.9 * before[0]);
  EXPECT_NEAR((after[0] + 10 * after[1]) / (before[0] + 10 * before[1]), 1, 0.03);
}

TEST(collisions, misuse_is_an_error) {
  const auto refused = [](auto change) {
    plan p = colliding();
    p.collision_pairs = {{.first = 0, .second = 1}};
    p.check();
    change(p);
    EXPECT_THROW(p.check(), input_error);
  };
  refused([](plan& p) { p.collision_pairs[0].second = 2; });
  refused([](plan& p) { p.collision_pairs[0].logarithm = 0; });
  refused([](plan& p) { p.collision_pairs[0].every = 0; });
  refused([](plan& p) { p.coupling = 0; });
}

}  // namespace
}  // namespace plaq::pic
