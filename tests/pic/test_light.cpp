// Light: antennas, dispersion of the stencils, moving windows.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <map>
#include <mutex>
#include <numbers>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/pic/fields/antenna.hpp"
#include "plaq/pic/fields/differences.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

// In one dimension: with its amplitude and direction, within 1 %.
TEST(antenna, sends_its_wave_to_both_sides) {
  plan p = between(periodic(1, 1, 300, 3), 0, field_boundary::absorbing, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.species_list.clear();
  antenna a{.normal = 0, .position = 30, .omega = 3, .field = 0.2, .angle = 0.6};
  const int steps = 300;
  for (int n = 0; n < steps; ++n) {
    const double t = (n + 0.5) * p.dt;
    a.envelope.push_back(t < 8 ? std::pow(std::sin(t * std::numbers::pi / 16), 2) : 1);
  }
  p.antennas = {a};
  std::map<int, std::array<double, 2>> most;  // of E_y and E_z, by cell
  const run result = on(2, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    s.start();
    s.advance(steps - 30, false);
    for (int n = 0; n < 30; ++n) {  // more than a period
      s.advance(1, false);
      for (const int patch : s.local_patches()) {
        const auto ey = s.field(patch, "ey"), ez = s.field(patch, "ez");
        static std::mutex guard;
        std::lock_guard lock(guard);
        for (std::size_t i = 0; i < ey.size(); ++i) {
          auto& at = most[s.mesh(patch).first[0] + int(i)];
          at = {std::max(at[0], std::abs(ey[i])), std::max(at[1], std::abs(ez[i]))};
        }
      }
    }
    return std::vector<double>();
  });
  EXPECT_EQ(result.errors, std::vector<std::string>(2));
  for (const int cell : {60, 90, 149, 160, 200, 240}) {
    EXPECT_NEAR(most[cell][0], 0.2 * std::cos(0.6), 0.01 * 0.2) << cell;
    EXPECT_NEAR(most[cell][1], 0.2 * std::sin(0.6), 0.01 * 0.2) << cell;
  }
}

/// Returns E, of Re[E exp(-i omega t)], in some cells, over the last `count` steps, whole periods.
std::map<point, std::array<std::complex<double>, 3>> wave_in(const plan& p, const std::vector<point>& cells, int steps,
                                                             int count, int period) {
  std::map<point, std::array<std::complex<double>, 3>> wave;
  const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    s.start();
    s.advance(steps - count, false);
    for (int n = 0; n < count; ++n) {
      s.advance(1, false);
      const std::complex<double> by = std::polar(2.0 / count, 2 * std::numbers::pi * n / period);
      for (const int patch : s.local_patches()) {
        const patch_grid m = s.mesh(patch);
        const char* names[] = {"ex", "ey", "ez"};
        for (std::size_t c = 0; c < 3; ++c) {
          const auto e = s.field(patch, names[c]);
          for (const point& cell : cells) {
            point at = cell;
            bool inside = true;
            for (int d = 0; d < 3; ++d) at[d] -= m.first[d], inside = inside && at[d] >= 0 && at[d] < m.cells[d];
            if (inside) wave[cell][c] += by * e[std::size_t(at[0] + m.cells[0] * (at[1] + m.cells[1] * at[2]))];
          }
        }
      }
    }
    return std::vector<double>();
  });
  EXPECT_EQ(result.errors, std::vector<std::string>{""});
  return wave;
}
/// Sets an envelope that rises over some steps and stays, from 200 steps before the first one on.
void rise(antenna& a, int over, int steps) {
  a.envelope_before = 200;
  for (int n = -200; n < steps; ++n)
    a.envelope.push_back(n < 0 ? 0 : n < over ? std::pow(std::sin(n * std::numbers::pi / (2 * over)), 2) : 1);
}

// At 35 degrees to the plane, both polarisations: amplitudes within 1 %, the wave vector on the mesh.
TEST(antenna, sends_an_oblique_wave) {
  const double omega = 3, sine = std::sin(0.61), cosine = std::cos(0.61), angle = 0.6;
  plan p = between(periodic(2, 1, 160, 2), 0, field_boundary::absorbing, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.species_list.clear();
  p.layer = 16;
  p.cells[0] = 200, p.cells[1] = 40, p.lengths[0] = 20, p.lengths[1] = 2 * std::numbers::pi / (omega * sine);
  const int period = 35;
  p.dt = 2 * std::numbers::pi / (omega * period);  // 0.89 of the limit
  for (const double side : {1.0, -1.0}) {
    antenna a{.normal = 0,
              .position = 10,
              .omega = omega,
              .field = 0.2,
              .angle = angle,
              .direction = {side * cosine, sine, 0}};
    rise(a, 400, 900);
    p.antennas = {a};
    const int cells[] = {140, 60};  // in the direction asked for, and in its image
    std::vector<point> all;
    for (const int cell : cells) all.insert(all.end(), {{cell, 11, 0}, {cell, 12, 0}, {cell + 1, 11, 0}});
    auto wave = wave_in(p, all, 900, 4 * period, period);
    for (const int cell : cells) {
      const auto& at = wave[{cell, 11, 0}];
      EXPECT_NEAR(std::abs(at[2]), 0.2 * std::sin(angle), 0.002) << cell;
      EXPECT_NEAR(std::abs(at[1]), 0.2 * std::cos(angle) * cosine, 0.002) << cell;
      EXPECT_NEAR(std::abs(at[0]), 0.2 * std::cos(angle) * sine, 0.002) << cell;
      const auto up = wave[{cell, 12, 0}][2] / at[2], on_way = wave[{cell + 1, 11, 0}][2] / at[2];
      EXPECT_NEAR(std::arg(up), omega * sine * p.spacing(1), 0.003) << cell;
      EXPECT_NEAR(std::arg(on_way), (cell == 140 ? 1 : -1) * omega * cosine * p.spacing(0), 0.005) << cell;
    }
  }
}

// In three dimensions, in any plane of incidence: E is that of normal incidence turned from the normal to the
// direction, within 2 %, and the wave vector that of the mesh. (The beginning excites waves near their cutoff, which
// leave slowly.)
TEST(antenna, sends_an_oblique_wave_in_three_dimensions) {
  const double omega = 3, angle = 0.9;
  const std::array<double, 3> n{std::cos(0.61), std::sin(0.61) * std::cos(0.7), std::sin(0.61) * std::sin(0.7)};
  plan p = between(periodic(3, 1, 28, 1), 0, field_boundary::absorbing, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.species_list.clear();
  p.layer = 10, p.cells = {54, 28, 33}, p.lengths[0] = 9, p.patches = {2, 1, 1};
  for (std::size_t d = 1; d < 3; ++d) p.lengths[d] = 2 * std::numbers::pi / (omega * n[d]);
  const int period = 24;
  p.dt = 2 * std::numbers::pi / (omega * period);
  ASSERT_LT(p.dt, p.courant());
  antenna a{.normal = 0, .position = 3.5, .omega = omega, .field = 0.2, .angle = angle, .direction = n};
  rise(a, 240, 620);
  p.antennas = {a};
  const point at{34, 5, 7};
  auto wave = wave_in(p, {at, {35, 5, 7}, {34, 6, 7}, {34, 5, 8}}, 620, 4 * period, period);
  const double along = n[1] * std::cos(angle) + n[2] * std::sin(angle), part = along / (1 + n[0]);
  const std::array<double, 3> expected{-along, std::cos(angle) - part * n[1], std::sin(angle) - part * n[2]};
  double rest = std::pow(2 / p.dt * std::sin(0.5 * omega * p.dt), 2);
  std::array<double, 3> turn{};  // of the phase in a cell
  for (std::size_t d = 1; d < 3; ++d) {
    turn[d] = 2 * std::numbers::pi / p.cells[d];
    rest -= std::pow(2 / p.spacing(int(d)) * std::sin(0.5 * turn[d]), 2);
  }
  turn[0] = 2 * std::asin(0.5 * p.spacing(0) * std::sqrt(rest));
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(std::abs(wave[at][c]), 0.2 * std::abs(expected[c]), 0.004) << c;
    point next = at;
    ++next[c];
    EXPECT_NEAR(std::arg(wave[next][1] / wave[at][1]), turn[c], 0.01) << c;
  }
  EXPECT_NEAR(std::arg(wave[at][1] / wave[at][2] * std::polar(1.0, 0.5 * (turn[2] - turn[1]))), 0, 0.02);
}

// A Gaussian beam at an angle has at each point of its plane the amplitude by the way along it and the distance from
// it.
TEST(antenna, has_the_amplitude_of_an_oblique_beam) {
  const plan p = periodic(3, 1, 64, 1);
  const std::array<double, 3> n{0.48, 0.6, 0.64};
  const antenna a{.normal = 0, .omega = 4, .waist = 2, .focus = 3, .centre = {0, 3, 4}, .direction = n};
  for (const auto& [y, z] : {std::pair(3.0, 4.0), {4.5, 4.0}, {2.0, 5.5}, {1.0, 1.5}}) {
    const double s = n[1] * (y - 3) + n[2] * (z - 4), from_focus = s - 3, rayleigh = 8;
    const std::array<double, 3> off{-s * n[0], y - 3 - s * n[1], z - 4 - s * n[2]};
    const double r2 = off[0] * off[0] + off[1] * off[1] + off[2] * off[2],
                 width = 2 * std::sqrt(1 + std::pow(from_focus / rayleigh, 2)),
                 over_radius = from_focus / (from_focus * from_focus + rayleigh * rayleigh);
    const auto amplitude = beam_amplitude(p, a, {7, y, z});
    EXPECT_NEAR(std::abs(amplitude), 2 / width * std::exp(-r2 / (width * width)), 1e-12);
    EXPECT_NEAR(
        std::remainder(std::arg(amplitude) - (4 * from_focus + 2 * r2 * over_radius - std::atan(from_focus / rayleigh)),
                       2 * std::numbers::pi),
        0, 1e-12);
  }
}

// Width, height, curvature and the phase of Gouy, at any distance from the focus.
TEST(antenna, has_the_amplitude_of_a_gaussian_beam) {
  for (int dimensions = 2; dimensions <= 3; ++dimensions) {
    plan p = periodic(dimensions, 1, 64, 1);
    antenna a{.normal = 0, .omega = 4, .waist = 2, .centre = {0, 3, 4}};
    const double rayleigh = 0.5 * 4 * 2 * 2;
    for (const double focus : {-15.0, 0.0, 4.0, 20.0}) {
      a.focus = focus;
      const double z = -focus, width = 2 * std::sqrt(1 + z * z / (rayleigh * rayleigh)), n = dimensions - 1;
      const auto axis = beam_amplitude(p, a, {7, 3, 4}), beside = beam_amplitude(p, a, {7, 4.5, 4});
      EXPECT_NEAR(std::abs(axis), std::pow(2 / width, n / 2), 1e-12);
      EXPECT_NEAR(std::abs(beside), std::abs(axis) * std::exp(-1.5 * 1.5 / (width * width)), 1e-12);
      EXPECT_NEAR(std::remainder(std::arg(axis) - (4 * z - n / 2 * std::atan(z / rayleigh)), 2 * std::numbers::pi), 0,
                  1e-12);
      const double over_radius = z / (z * z + rayleigh * rayleigh);
      EXPECT_NEAR(
          std::remainder(std::arg(beside) - std::arg(axis) - 0.5 * 4 * 1.5 * 1.5 * over_radius, 2 * std::numbers::pi),
          0, 1e-12);
    }
  }
}

/// Returns omega of a wave with phases k_d dx_d from cell to cell: sin^2(w dt/2)/dt^2 = sum over d of (the slope at
/// half a cell) sin(k_d dx_d/2)/dx_d.
double omega_of(const plan& p, const std::array<double, 3>& phase) {
  const auto weights = difference_weights(p);
  double sum = 0;
  for (int d = 0; d < p.dimensions; ++d) {
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    const stencil_weights& w = weights[std::size_t(d)];
    const double factor = w.alpha + w.delta * (3 - 4 * std::pow(std::sin(phase[d] / 2), 2)) +
                          2 * w.beta[std::size_t(a)] * std::cos(phase[a]) +
                          2 * w.beta[std::size_t(b)] * std::cos(phase[b]) +
                          4 * w.gamma * std::cos(phase[a]) * std::cos(phase[b]);
    sum += factor * std::pow(std::sin(phase[d] / 2), 2) / p.spacing(d);
  }
  return 2 / p.dt * std::asin(p.dt * std::sqrt(sum));
}

// Standing waves follow their stencil's dispersion to rounding; with the smoothed one at the step dx waves along
// an axis have c, and differences of constants and slopes are exact.
TEST(stencil, has_its_dispersion) {
  for (const stencil curl : {stencil::yee, stencil::cowan, stencil::lehe})
    for (int dimensions = 2; dimensions <= 3; ++dimensions) {
      plan p = periodic(dimensions, 1, 12, 2);
      p.species_list.clear();
      p.curl = curl;
      p.lengths = {2.4, 2.8, 3.5};
      for (int d = dimensions; d < 3; ++d) p.lengths[d] = 1;
      p.dt = 0.999 * p.courant();
      const auto weights = difference_weights(p);
      for (int d = 0; d < dimensions; ++d) {
        const stencil_weights& w = weights[std::size_t(d)];
        EXPECT_NEAR(w.alpha + 2 * (w.beta[0] + w.beta[1] + w.beta[2]) + 4 * w.gamma + 3 * w.delta, 1 / p.spacing(d),
                    1e-13);
      }
      const std::array<int, 3> waves{2, 3, dimensions == 3 ? 1 : 0};
      std::array<double, 3> phase{};
      for (int d = 0; d < dimensions; ++d) phase[d] = 2 * std::numbers::pi * waves[d] / p.cells[d];
      const double omega = omega_of(p, phase);
      const run result = on(2, p, {.pool = {.workers = 1}}, [&](plasma& s) {
        // Of E_z, or in three dimensions of E along (1, -1, 0) times what makes div E = 0: E = k x z.
        for (const int patch : s.local_patches()) {
          const patch_grid m = s.mesh(patch);
          std::vector<double> e(3 * own_cells(m).size()), b(e.size());
          std::size_t n = 0;
          for (int k = 0; k < m.cells[2]; ++k)
            for (int j = 0; j < m.cells[1]; ++j)
              for (int i = 0; i < m.cells[0]; ++i, ++n) {
                const auto cosine = [&](double x, double y) {
                  return std::cos(phase[0] * (m.first[0] + i + x) + phase[1] * (m.first[1] + j + y) +
                                  phase[2] * (m.first[2] + k));
                };
                if (dimensions == 2) {
                  e[2 * own_cells(m).size() + n] = cosine(0, 0);
                } else {
                  e[n] = std::sin(phase[1] / 2) / p.spacing(1) * cosine(0.5, 0);
                  e[own_cells(m).size() + n] = -std::sin(phase[0] / 2) / p.spacing(0) * cosine(0, 0.5);
                }
              }
          s.set_fields(patch, e, b);
        }
        s.start();
        std::vector<std::vector<double>> first;
        const char* component = dimensions == 2 ? "ez" : "ex";
        for (const int patch : s.local_patches()) first.push_back(s.field(patch, component));
        s.advance(25, false);
        std::size_t at = 0;
        for (const int patch : s.local_patches()) {
          const auto now = s.field(patch, component);
          for (std::size_t i = 0; i < now.size(); ++i)
            EXPECT_NEAR(now[i], std::cos(25 * omega * p.dt) * first[at][i], 2e-12) << dimensions;
          ++at;
        }
        return std::vector<double>();
      });
      EXPECT_EQ(result.errors, std::vector<std::string>(2));
      if (curl == stencil::lehe) {  // c at the shortest wave in x, and not below it at any
        for (double k = 0.1; k <= 3.2; k += 0.1)
          EXPECT_GE(omega_of(p, {std::min(k, std::numbers::pi), 0, 0}) * p.spacing(0) / std::min(k, std::numbers::pi),
                    1 - 1e-12);
      }
      if (curl == stencil::cowan) {
        plan cubes = periodic(dimensions, 1, 12, 2);
        cubes.curl = curl, cubes.dt = cubes.courant() * (1 - 1e-12);
        EXPECT_NEAR(omega_of(cubes, {1.5, 0, 0}) * cubes.spacing(0), 1.5, 1e-6);
        EXPECT_LT(std::abs(omega_of(cubes, {0.8, 0.8, 0}) * cubes.spacing(0) / (0.8 * std::sqrt(2.0)) - 1), 0.04);
        EXPECT_GT(cubes.courant(), 1.3 * periodic(dimensions, 1, 12, 2).courant());
      }
    }
}

// At any wave number the smoothed stencil is stable up to dx: the energy of noise does not grow in many steps.
TEST(stencil, is_stable_up_to_its_limit) {
  for (const stencil curl : {stencil::cowan, stencil::lehe}) {
    plan p = between(periodic(2, 1, 16, 2), 0, field_boundary::absorbing, particle_boundary::absorbed,
                     particle_boundary::absorbed);
    p.layer = 4, p.species_list.clear(), p.curl = curl, p.dt = 0.999 * p.courant();
    const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
      for (const int patch : s.local_patches()) {
        std::vector<double> e(3 * own_cells(s.mesh(patch)).size()), b(e.size());
        for (std::size_t i = 0; i < e.size(); ++i) e[i] = drawn(std::uint64_t(patch), i);
        s.set_fields(patch, e, b);
      }
      s.start();
      return s.advance(600, false);
    });
    const auto energy = [&](std::size_t row) {
      double sum = 0;
      for (std::size_t c = 0; c < 6; ++c) sum += at(result, p, row, record::energies + c);
      return sum;
    };
    EXPECT_LT(energy(599), energy(1));
    EXPECT_GT(energy(599), 0);
  }
}

/// Loads a plasma without temperature from x = 8 on, and a pulse before it that moves to the right.
void begin_with_a_pulse(plasma& s, bool particles, int from_x = 0, bool fields = true) {
  const plan& p = s.parameters();
  for (const int patch : s.local_patches()) {
    const patch_grid m = s.mesh(patch);
    if (fields) {
      std::vector<double> e(3 * own_cells(m).size()), b(e.size());
      for (std::size_t n = 0; n < own_cells(m).size(); ++n) {
        const double x = m.first[0] + double(n % std::size_t(m.cells[0]));
        const auto pulse = [](double at) {
          return std::abs(at - 18) < 12
                     ? 0.5 * std::pow(std::cos((at - 18) * std::numbers::pi / 24), 2) * std::cos(0.7 * at)
                     : 0;
        };
        const double y = m.first[1] + double(n / std::size_t(m.cells[0]) % std::size_t(m.cells[1]));
        const double profile = p.periodic(1) ? 1 : 1 + 0.5 * std::sin(0.8 * y);
        e[own_cells(m).size() + n] = profile * pulse(x);
        b[2 * own_cells(m).size() + n] = profile * pulse(x + 0.5);
      }
      s.set_fields(patch, e, b);
    }
    const bool last = m.first[0] + m.cells[0] == p.cells[0];
    if (!particles || (from_x > 0 && !last)) continue;
    auto x = make_positions(p, s.shifted_mesh(patch), 0, 2, true, from_x > 0 ? m.cells[0] - 1 : 0);
    const auto dims = std::size_t(p.dimensions);
    std::vector<double> some;
    for (std::size_t i = 0; i < x.size(); i += dims)
      if (x[i] > 8) some.insert(some.end(), x.begin() + std::ptrdiff_t(i), x.begin() + std::ptrdiff_t(i + dims));
    const std::size_t n = some.size() / dims;
    const std::vector<double> w(n, 0.05 * p.cell_volume()), none(3 * n);
    s.load(patch, 0, {some, w, none, none, false});
  }
}

/// Returns the fields by cell of the long box after 56 steps, of a window of `cells` cells or of a box at rest.
std::map<std::pair<int, std::string>, std::vector<double>> after_a_pulse(int cells, int patches, bool moves,
                                                                         bool particles, int ranks,
                                                                         bool absorbing = false) {
  plan p = between(periodic(2, 2, cells, 1), 0, field_boundary::absorbing, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  const int across = absorbing ? 24 : 8;
  p.cells = {cells, across, 1}, p.lengths = {0.25 * cells, 0.25 * across, 1}, p.patches = {patches, 2, 1};
  if (absorbing)
    p.field_boundaries[1] = {field_boundary::absorbing, field_boundary::absorbing},
    p.particle_boundaries[1] = {particle_boundary::absorbed, particle_boundary::absorbed};
  p.curl = stencil::cowan, p.dt = 0.999 * p.courant();  // so that light along x moves with c
  p.field_boundaries[0][1] = field_boundary::conducting, p.layer = 6;
  if (moves) p.window = {.speed = 1, .start = 3};
  std::map<std::pair<int, std::string>, std::vector<double>> out;
  std::mutex guard;
  const run result = on(ranks, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    begin_with_a_pulse(s, particles);
    s.start();
    for (int n = 0; n < 56; ++n) {
      s.advance(1, false);
      if (p.window_shift(s.step()) > p.window_shift(s.step() - 1)) {
        s.shift_window();
        begin_with_a_pulse(s, particles, 1, false);
      }
    }
    std::lock_guard lock(guard);
    for (const int patch : s.local_patches())
      for (const auto* name : {"ex", "ey", "bz"}) {
        const patch_grid m = s.shifted_mesh(patch);
        const auto values = s.field(patch, name);
        for (int j = 0; j < m.cells[1]; ++j)
          for (int i = 0; i < m.cells[0]; ++i) {
            auto& column = out[{m.first[0] + i, name}];
            column.resize(std::size_t(across));
            column[std::size_t(m.first[1] + j)] = values[std::size_t(i + m.cells[0] * j)];
          }
      }
    return std::vector<double>();
  });
  EXPECT_EQ(result.errors, std::vector<std::string>(std::size_t(ranks)));
  return out;
}

// In vacuum a window sees what a long box has bit for bit, in a plasma to rounding; on any ranks the same bits. Within
// absorbing layers particles gather B of images behind the wall, which a move of the window renews.
TEST(window, is_a_part_of_a_long_box) {
  for (const auto& [particles, absorbing] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    const auto whole = after_a_pulse(120, 4, false, particles, 1, absorbing),
               moved = after_a_pulse(48, 2, true, particles, 1, absorbing);
    EXPECT_EQ(moved, after_a_pulse(48, 2, true, particles, 3, absorbing));
    const int first = moved.begin()->first.first;
    ASSERT_GT(first, 20);
    double largest = 0, differs = 0;
    for (const auto& [at, column] : moved) {
      if (at.first < first + 9 || at.first >= first + 46) continue;  // but for what the layer does
      for (std::size_t j = 0; j < column.size(); ++j) {
        const double other = whole.at(at)[j];
        if (!particles) {
          EXPECT_EQ(column[j], other) << at.first << at.second;
        }
        differs = std::max(differs, std::abs(column[j] - other)), largest = std::max(largest, std::abs(other));
      }
    }
    EXPECT_GT(largest, 0.2);
    EXPECT_LT(differs, absorbing ? 1e-4 : 1e-12);
  }
}

// Every particle that comes in or leaves is counted, and a checkpoint between a move and the next step knows of it.
TEST(window, counts_who_comes_and_goes) {
  plan p = between(periodic(1, 1, 24, 2), 0, field_boundary::absorbing, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.lengths[0] = 6, p.dt = 0.2, p.window = {.speed = 1}, p.layer = 4;
  double initial = 0;
  const run result = on(2, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    fill(s, {.per_cell = 4, .even = true, .thermal = 0});
    s.start();
    if (s.local_patches()[0] == 0) initial = 24 * 4;
    std::vector<double> rows;
    for (int n = 0; n < 30; ++n) {
      const auto row = s.advance(1, true);
      rows.insert(rows.end(), row.begin(), row.end());
      if (p.window_shift(s.step()) == p.window_shift(s.step() - 1)) continue;
      s.shift_window();
      for (const int patch : s.local_patches()) {
        if (patch != 1) continue;
        const auto x = make_positions(p, s.shifted_mesh(patch), 0, 4, true, 11);
        EXPECT_EQ(x.size(), 4u);
        const std::vector<double> w(4, 0.25 * p.cell_volume()), none(12);
        s.load(patch, 0, {x, w, none, none, false});
      }
    }
    EXPECT_THROW(s.advance(10, false), input_error);
    return rows;
  });
  EXPECT_EQ(result.errors, std::vector<std::string>(2));
  double number = initial, left = 0, entered = 0;
  for (std::size_t row = 0; row < 30; ++row) {
    left += at(result, p, row, record::at(0, record::left)),
        entered += at(result, p, row, record::at(0, record::emitted));
    number += at(result, p, row, record::at(0, record::emitted)) - at(result, p, row, record::at(0, record::left));
    EXPECT_EQ(at(result, p, row, record::at(0, record::number)), number);
    EXPECT_TRUE(std::isnan(at(result, p, row, record::gauss(p))));
  }
  EXPECT_EQ(left, entered);
  EXPECT_NEAR(entered, 4 * std::floor(30 * 0.2 / 0.25), 5);
}

TEST(light, misuse_is_an_error) {
  const auto refused = [](auto change) {
    plan p = between(periodic(2, 1, 24, 2), 0, field_boundary::absorbing, particle_boundary::absorbed,
                     particle_boundary::absorbed);
    p.antennas = {{.normal = 0, .position = 1, .omega = 2, .field = 0.1, .envelope = {1}}};
    p.window = {.speed = 1};
    p.check();
    change(p);
    EXPECT_THROW(p.check(), input_error);
  };
  refused([](plan& p) { p.antennas[0].normal = 2; });
  refused([](plan& p) { p.antennas[0].position = 0; });
  refused([](plan& p) { p.antennas[0].omega = 0; });
  refused([](plan& p) { p.antennas[0].omega = 100; });
  refused([](plan& p) { p.antennas[0].waist = -1; });
  refused([](plan& p) { p.antennas[0].envelope = {NAN}; });
  refused([](plan& p) { p.antennas[0].direction = {0, 1, 0}; });
  refused([](plan& p) { p.antennas[0].direction = {0.8, 0.5, 0}; });
  refused([](plan& p) { p.antennas[0].direction = {0.6, 0, 0.8}; });
  refused([](plan& p) { p.antennas[0].direction = {0.6, 0.8, 0}, p.curl = stencil::cowan; });
  refused([](plan& p) { p.window.speed = 1.1; });
  refused([](plan& p) { p.window.start = -1; });
  refused([](plan& p) { p.field_boundaries[0] = {}, p.particle_boundaries[0] = {}; });
  refused([](plan& p) { p.layer = 12, p.patches[0] = 3; });
  EXPECT_THROW(parse_stencil("lee"), input_error);
}

}  // namespace
}  // namespace plaq::pic
