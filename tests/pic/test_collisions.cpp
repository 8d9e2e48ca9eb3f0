// Collisions and ionisation: what they keep, and how fast they are.
#include <gtest/gtest.h>

#include <cmath>

#include "plans.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/collisions.hpp"
#include "plaq/pic/ionisation.hpp"

namespace plaq::pic {
namespace {

using namespace test;

double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

plan colliding() {
  plan p = periodic(1, 1, 8, 1);
  p.kinds.push_back({"heavy", 1, 4, pusher::boris});
  p.coupling = 1e-3, p.crowding = 1e9;
  return p;
}

// Two of any momenta and masses: momentum and energy stay, and what is between them turns.
TEST(collisions, of_two_keep_momentum_and_energy) {
  const plan p = colliding();
  for (std::uint64_t n = 0; n < 200; ++n) {
    meeting_of_two who{{1 + 0.5 * drawn(1, n), 3 + 2 * drawn(2, n)}, {-1, 2}, {}};
    for (std::size_t c = 0; c < 3; ++c) who.u[0][c] = 3 * drawn(3 + c, n), who.u[1][c] = 0.1 * drawn(6 + c, n);
    const auto after = deflected(p, 10, who, 50, 1e9, random_words({.seed = n}, 0));
    double before_e = 0, after_e = 0, turned = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double before = who.mass[0] * who.u[0][c] + who.mass[1] * who.u[1][c];
      EXPECT_NEAR(who.mass[0] * after[0][c] + who.mass[1] * after[1][c], before, 2e-13);
      turned += std::abs(after[0][c] - who.u[0][c]);
    }
    for (std::size_t k = 0; k < 2; ++k) {
      before_e += who.mass[k] * std::sqrt(1 + dot(who.u[k], who.u[k]));
      after_e += who.mass[k] * std::sqrt(1 + dot(after[k], after[k]));
    }
    EXPECT_NEAR(after_e, before_e, 1e-12 * before_e);
    EXPECT_GT(turned, 1e-6);
  }
}

// Those at rest to each other do not collide; the mean cosine is exp(-s), as Nanbu has it, within 3 % of 1 and 5
// standard errors.
TEST(collisions, deflections_have_their_mean) {
  const plan p = colliding();
  const meeting_of_two alike{{1, 1}, {-1, -1}, {{{0.1, 0, 0}, {0.1, 0, 0}}}};
  for (const auto& u : deflected(p, 10, alike, 1, 1, {})) EXPECT_NEAR(u[0], 0.1, 1e-15);
  EXPECT_EQ(deflection(0, 0.3), 1);
  for (const double s : {0.01, 0.05, 0.3, 1.0, 2.5, 4.0, 8.0}) {
    double sum = 0;
    const int n = 40000;
    for (int i = 0; i < n; ++i) {
      const double c = deflection(s, unit_interval(random_words({.seed = 5}, std::uint64_t(i))[0]));
      EXPECT_LE(std::abs(c), 1);
      sum += c;
    }
    EXPECT_NEAR(sum / n, std::exp(-s), 0.03 * (1 - std::exp(-s)) + 5 * 0.6 / std::sqrt(double(n))) << s;
  }
}

/// A patch with so many particles of each species in a cell, of thermal momenta [species][direction].
patch<double> warm(const plan& p, int per_cell, const std::array<std::array<double, 3>, 2>& thermal) {
  patch<double> me(p, {});
  const auto x = places(p, me.mesh, 0, per_cell, false);
  for (std::size_t s = 0; s < p.kinds.size(); ++s) {
    std::vector<double> w(x.size(), p.cell_volume() / per_cell), none(3 * x.size()), spread;
    for (std::size_t i = 0; i < x.size(); ++i) spread.insert(spread.end(), thermal[s].begin(), thermal[s].end());
    load(p, me, s, {x, w, none, spread, false});
  }
  return me;
}
/// m <u_c^2> of a species.
double temperature(const plan& p, const patch<double>& me, std::size_t s, std::size_t c) {
  double sum = 0;
  for (const double u : me.kinds[s].u[c]) sum += u * u;
  return p.kinds[s].mass * sum / double(me.kinds[s].size());
}

// Two species of temperatures T and 4 T come together at Spitzer's rate: dT_a/dt = nu (T_b - T_a), nu = (2/3)
// sqrt(2/pi) r n L q^4 m_a^(1/2) m_b^(1/2) / (m_a T_b + m_b T_a)^(3/2), r = coupling. 24000 particles of each have
// a standard error of 3 %. A step of a part s of the time between collisions turns the slowest pairs round at
// once, which costs some s^(1/3) of the rate, here 5 %.
TEST(collisions, temperatures_relax_as_spitzer_said) {
  plan p = colliding();
  const double cold = 1e-4, hot = 4e-4;
  p.encounters = {{.first = 0, .second = 1, .logarithm = 10}, {.first = 0, .second = 0}, {.first = 1, .second = 1}};
  patch<double> me = warm(p, 3000,
                          {{{std::sqrt(cold), std::sqrt(cold), std::sqrt(cold)},
                            {std::sqrt(hot / 4), std::sqrt(hot / 4), std::sqrt(hot / 4)}}});
  const auto rate = [&](double a, double b) {
    return 2.0 / 3 * std::sqrt(2 / std::numbers::pi) * p.coupling * 10 * std::sqrt(4.0) / std::pow(b + 4 * a, 1.5);
  };
  const auto mean = [&](std::size_t s) {
    return (temperature(p, me, s, 0) + temperature(p, me, s, 1) + temperature(p, me, s, 2)) / 3;
  };
  double a = mean(0), b = mean(1);
  p.dt = 0.0003 / rate(a, b);
  const double energy = a + b, before = b - a;
  for (me.step = 0; me.step < 300; ++me.step) {
    collide(p, me);
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
  p.kinds.pop_back();
  p.encounters = {{.first = 0, .second = 0, .logarithm = 10, .every = 2}};
  const double t = 1e-4;
  patch<double> me = warm(p, 3001, {{{std::sqrt(1.4 * t), std::sqrt(t), std::sqrt(t)}, {}}});
  const double all = (temperature(p, me, 0, 0) + temperature(p, me, 0, 1) + temperature(p, me, 0, 2)) / 3;
  const double nu = 2 * p.coupling * 10 / (15 * std::sqrt(std::numbers::pi)) / std::pow(all, 1.5);
  p.dt = 0.001 / nu;
  const auto gap = [&] {
    return temperature(p, me, 0, 0) - 0.5 * (temperature(p, me, 0, 1) + temperature(p, me, 0, 2));
  };
  const double before = gap();
  for (me.step = 0; me.step < 200; ++me.step) collide(p, me);
  EXPECT_NEAR(std::log(before / gap()) / (3 * nu * 200 * p.dt), 1, 0.1);
}

// Particles of weights 1 and 10: the heavier is deflected in one of ten, so that temperatures still come together.
TEST(collisions, weights_may_differ) {
  plan p = colliding();
  p.encounters = {{.first = 0, .second = 1, .logarithm = 10}};
  patch<double> me = warm(p, 500, {{{0.01, 0.01, 0.01}, {0.0025, 0.0025, 0.0025}}});
  for (double& w : me.kinds[1].w) w *= 10;
  std::array<double, 2> before{};
  for (std::size_t s = 0; s < 2; ++s)
    before[s] = temperature(p, me, s, 0) + temperature(p, me, s, 1) + temperature(p, me, s, 2);
  p.dt = 20;
  for (me.step = 0; me.step < 50; ++me.step) collide(p, me);
  std::array<double, 2> after{};
  for (std::size_t s = 0; s < 2; ++s)
    after[s] = temperature(p, me, s, 0) + temperature(p, me, s, 1) + temperature(p, me, s, 2);
  EXPECT_LT(after[0], 0.9 * before[0]);
  EXPECT_NEAR((after[0] + 10 * after[1]) / (before[0] + 10 * before[1]), 1, 0.03);
}

ionising of_gas() {
  return {.by = 0,
          .electrons = 0,
          .ions = 1,
          .loss = 3e-5,
          .energy = {3e-5, 1e-3, 2e-3},
          .cross_section = {0, 2, 1},
          .density = {0.7}};
}

TEST(ionisation, cross_sections_are_those_of_the_table) {
  const ionising how = of_gas();
  EXPECT_EQ(cross_section(how, 2e-5), 0);
  EXPECT_EQ(cross_section(how, 3e-5), 0);
  EXPECT_DOUBLE_EQ(cross_section(how, 1.5e-3), 1.5);
  EXPECT_EQ(cross_section(how, 1), 1);
}

// Of N electrons of one energy N (1 - exp(-n sigma v dt)) ionise, within four standard errors; each new pair costs
// the loss, is at the place of whom made it, and has no charge.
TEST(ionisation, has_its_rate_and_takes_its_energy) {
  plan p = colliding();
  p.kinds[1].mass = 1836;
  p.dt = 3, p.electrostatic = true;
  p.ionisations = {of_gas()};
  p.check();
  patch<double> me = warm(p, 2000, {});
  for (std::size_t s = 1; s < 2; ++s) me.kinds[s] = {};
  const double energy = 1.5e-3, u = std::sqrt(energy * (energy + 2));
  for (double& x : me.kinds[0].u[1]) x = u;
  const auto all_energy = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < me.kinds[0].size(); ++i) {
      double u2 = 0;
      for (std::size_t c = 0; c < 3; ++c) u2 += me.kinds[0].u[c][i] * me.kinds[0].u[c][i];
      sum += me.kinds[0].w[i] * u2 / (1 + std::sqrt(1 + u2));
    }
    return sum;
  };
  const double n = double(me.kinds[0].size()), before = all_energy();
  const double chance = 1 - std::exp(-0.7 * 1.5 * u / std::sqrt(1 + u * u) * p.dt);
  std::ranges::fill(me.next, 0.0);
  ionise(p, me);
  const double born = double(me.kinds[1].size());
  EXPECT_NEAR(born, n * chance, 4 * std::sqrt(n * chance * (1 - chance)));
  EXPECT_EQ(double(me.kinds[0].size()), n + born);
  EXPECT_EQ(me.next[record::at(0, record::emitted)], born);
  EXPECT_EQ(me.next[record::at(1, record::emitted)], born);
  EXPECT_NEAR(all_energy(), before - born * me.kinds[0].w[0] * 3e-5, 1e-12 * before);
  for (std::size_t i = 0; i < me.kinds[1].size(); ++i) {
    EXPECT_EQ(me.kinds[1].x[0][i], me.kinds[0].x[0][std::size_t(n) + i]);
    EXPECT_EQ(me.kinds[1].u[0][i], 0);
  }
  p.ionisations[0].density = {0};
  ionise(p, me);
  EXPECT_EQ(double(me.kinds[1].size()), born);
}

TEST(collisions, misuse_is_an_error) {
  const auto refused = [](auto change) {
    plan p = colliding();
    p.encounters = {{.first = 0, .second = 1}};
    p.ionisations = {of_gas()};
    p.check();
    change(p);
    EXPECT_THROW(p.check(), input_error);
  };
  refused([](plan& p) { p.encounters[0].second = 2; });
  refused([](plan& p) { p.encounters[0].logarithm = 0; });
  refused([](plan& p) { p.encounters[0].every = 0; });
  refused([](plan& p) { p.coupling = 0; });
  refused([](plan& p) { p.ionisations[0].ions = -1; });
  refused([](plan& p) { p.ionisations[0].ions = 0; });
  refused([](plan& p) { p.ionisations[0].energy = {1e-4}; });
  refused([](plan& p) { p.ionisations[0].energy = {1e-3, 1e-3, 1e-2}; });
  refused([](plan& p) { p.ionisations[0].loss = 1; });
  refused([](plan& p) { p.ionisations[0].density = {1, 2}; });
  refused([](plan& p) { p.ionisations[0].density = {-1}; });
}

}  // namespace
}  // namespace plaq::pic
