// Plates that emit particles.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/processes/emission.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

/// Closed box with a plate of electrons.
plan with_plate(int dimensions, emitter e, double flux, int patches = 2) {
  plan p = periodic(dimensions, 1, 10, patches);
  for (int d = 0; d < dimensions; ++d)
    p = between(p, d, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::absorbed);
  e.set_flux({flux});
  p.emitters = {e};
  return p;
}
emitter on_the_left(int dimensions, double weight) {
  emitter e{.centre = {0, 1.0, 1.1},
            .half_width = dimensions > 1 ? 0.5 : 0,
            .weight = weight,
            .temperature = 0.01,
            .drift = 0.2};
  return e;
}

run emitted(const plan& p, int steps, int ranks = 1, bool gauss = true) {
  return on(ranks, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    s.start();
    return s.advance(steps, gauss);
  });
}

// Within one particle for each tile; none is lost, and the charge that they leave behind satisfies Gauss's law.
TEST(emission, plates_emit_their_flux) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const double area = std::pow(1.0, dimensions - 1), flux = 0.7, weight = 0.003;
    const plan p = with_plate(dimensions, on_the_left(dimensions, weight), flux);
    const int steps = 40;
    const run result = emitted(p, steps);
    ASSERT_EQ(result.errors, std::vector<std::string>{""});
    const double expected = flux * area * steps * p.dt / weight;
    const double tiles = std::pow(5, dimensions - 1);
    EXPECT_NEAR(sum_of(result, p, record::at(0, record::emitted)), expected, tiles + 1);
    EXPECT_NEAR(sum_of(result, p, record::at(0, record::emitted_weight)), flux * area * steps * p.dt,
                weight * (tiles + 1));
    for (int row = 0; row < steps; ++row)
      EXPECT_LT(at(result, p, std::size_t(row), record::gauss(p)), 2e-13) << dimensions;
    EXPECT_GT(at(result, p, steps - 1, record::at(0, record::number)), 0);
  }
}

TEST(emission, is_bitwise_identical_on_any_ranks) {
  const plan p = with_plate(2, on_the_left(2, 0.01), 2, 3);
  const run one = emitted(p, 20), three = emitted(p, 20, 3);
  ASSERT_EQ(one.errors, std::vector<std::string>{""});
  EXPECT_TRUE(same(one, three));
}

/// Returns the particles that all patches of a plan emit in the first steps, without fields.
std::multiset<std::array<double, 6>> emitted_particles(const plan& p, int steps) {
  std::multiset<std::array<double, 6>> out;
  for (int n = 0; n < p.patches[0] * p.patches[1] * p.patches[2]; ++n) {
    patch<double> self(p, point_of(patch_of(p, n)));
    self.row.assign(record::length(p), 0);
    particles<double> all;
    for (; self.step < steps; ++self.step) {
      const auto more = emit(p, self, 0);
      EXPECT_EQ(more.state.size(), more.remaining.size());
      for (const double part : more.remaining) EXPECT_TRUE(part > 0 && part <= 1);
      all.append(more.state, p.dimensions);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::array<double, 6> particle{};
      for (int d = 0; d < p.dimensions; ++d)
        particle[std::size_t(d)] = (self.mesh.first[d] + all.cell[d][i] + all.x[d][i]) * self.mesh.spacing[d];
      for (std::size_t c = 0; c < 3; ++c) particle[3 + c] = all.u[c][i];
      out.insert(particle);
    }
  }
  return out;
}

// A plate in the middle of the box: particles begin on it and move along its normal, the same for any patches.
TEST(emission, plates_emit_at_any_angle) {
  for (int dimensions = 2; dimensions <= 3; ++dimensions) {
    emitter e{.centre = {1.0, 1.1, 1.2}, .normal = {0.6, 0.8, 0}, .half_width = 0.4, .weight = 0.001, .drift = 0.5};
    if (dimensions == 3) e.normal = {0.48, 0.64, 0.6};
    const plan whole = with_plate(dimensions, e, 3, 1), cut = with_plate(dimensions, e, 3, 3);
    const auto particles_whole = emitted_particles(whole, 10);
    EXPECT_GT(particles_whole.size(), 100u);
    const auto in_parts = emitted_particles(cut, 10);
    ASSERT_EQ(particles_whole.size(), in_parts.size());
    EXPECT_TRUE(std::ranges::equal(particles_whole, in_parts, [](const auto& a, const auto& b) {
      return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < 1e-12;
    }));
    double farthest = 0;
    for (const auto& particle : particles_whole) {
      double off = 0, r2 = 0;
      for (std::size_t d = 0; d < std::size_t(dimensions); ++d) {
        off += (particle[d] - e.centre[d]) * e.normal[d];
        r2 += (particle[d] - e.centre[d]) * (particle[d] - e.centre[d]);
        EXPECT_NEAR(particle[3 + d], 0.5 * e.normal[d], 1e-14);
      }
      EXPECT_NEAR(off, 0, 1e-13);
      farthest = std::max(farthest, std::sqrt(r2));
    }
    const double corner = 0.4 * std::sqrt(dimensions - 1);
    EXPECT_LT(farthest, corner);
    EXPECT_GT(farthest, 0.8 * corner);
  }
}

// The flux of a plate: <u_n^2> = 2 T, <u_t^2> = T; 4 standard errors.
TEST(emission, plates_emit_their_temperature) {
  emitter e{.centre = {1.0, 0, 0}, .normal = {-1, 0, 0}, .weight = 1e-4, .temperature = 0.09};
  const auto particles_whole = emitted_particles(with_plate(1, e, 4), 20);
  const double n = double(particles_whole.size());
  ASSERT_GT(n, 10000);
  double normal = 0, along = 0, mean = 0;
  for (const auto& particle : particles_whole) {
    EXPECT_LT(particle[3], 0);
    normal += particle[3] * particle[3] / n, along += particle[4] * particle[4] / n, mean += particle[5] / n;
  }
  EXPECT_NEAR(normal, 0.18, 4 * 0.18 / std::sqrt(n));
  EXPECT_NEAR(along, 0.09, 4 * 0.09 * std::sqrt(2 / n));
  EXPECT_NEAR(mean, 0, 4 * 0.3 / std::sqrt(n));
}

TEST(emission, flux_is_summed_over_steps) {
  emitter e;
  e.set_flux({1, 0, 3});
  const double expected[] = {0, 1, 1, 4, 7, 10};
  for (int n = 0; n < 6; ++n) EXPECT_EQ(e.flux_until(n), expected[n]);
  EXPECT_THROW(e.set_flux({1, -1}), input_error);
  EXPECT_THROW(e.set_flux({std::nan("")}), input_error);
}

TEST(emission, frames_are_right_angled) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    plan p = periodic(dimensions, 1);
    emitter e{.normal = {dimensions == 1 ? 1.0 : 0.6, dimensions == 2 ? 0.8 : 0.0, dimensions == 3 ? 0.8 : 0.0}};
    const frame f = frame_of(p, e);
    const auto dot = [](const auto& a, const auto& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
    EXPECT_NEAR(dot(f.first, f.first), 1, 1e-14);
    EXPECT_NEAR(dot(f.second, f.second), 1, 1e-14);
    EXPECT_NEAR(dot(f.first, f.second), 0, 1e-14);
    EXPECT_NEAR(dot(f.first, f.normal), 0, 1e-14);
    EXPECT_NEAR(dot(f.second, f.normal), 0, 1e-14);
    if (dimensions == 2) {
      EXPECT_EQ(f.first[2], 0);
    }
  }
}

std::string error_of(const std::function<void(emitter&)>& change) {
  plan p = with_plate(2, on_the_left(2, 0.01), 1);
  change(p.emitters[0]);
  try {
    p.check();
  } catch (const input_error& error) {
    return error.what();
  }
  return "nothing";
}
TEST(emission, names_the_error_of_a_plate) {
  EXPECT_EQ(error_of([](emitter&) {}), "nothing");
  EXPECT_EQ(error_of([](emitter& e) { e.species_index = 1; }), "emitter 1: species 1 of 1");
  EXPECT_EQ(error_of([](emitter& e) { e.weight = 0; }), "emitter 1: weight = 0: above 0");
  EXPECT_EQ(error_of([](emitter& e) { e.half_width = 0; }), "emitter 1: half_width = 0: above 0 but in one dimension");
  EXPECT_EQ(error_of([](emitter& e) { e.normal = {1, 1, 0}; }), "emitter 1: the normal has the length 1.41421, not 1");
  EXPECT_EQ(error_of([](emitter& e) { e.half_width = 1.1; }),
            "emitter 1: it reaches from -0.1 to 2.1 in y, and the box ends at 2.2");
  EXPECT_EQ(error_of([](emitter& e) { e.cumulative_flux.clear(); }), "emitter 1: it needs a flux");
  EXPECT_EQ(error_of([](emitter& e) { e.temperature = -1; }), "emitter 1: temperature = -1: at least 0");
  const std::string limited =
      "emitter 1: one that is limited by space charge lies on a conducting side of the box, its normal into the "
      "box";
  EXPECT_EQ(error_of([](emitter& e) { e.space_charge_limited = true, e.centre[0] = 0.5; }), limited);
  EXPECT_EQ(error_of([](emitter& e) { e.space_charge_limited = true, e.normal = {-1, 0, 0}; }), limited);
  EXPECT_EQ(error_of([](emitter& e) { e.space_charge_limited = true; }), "nothing");
}

// Child (1911), Langmuir (1913): J = 4/9 sqrt(2) V^(3/2) / d^2 between plates, in units of epsilon_0 = e / m = 1.
double limited_current(int dimensions, int cells, int side) {
  plan p = periodic(dimensions, 1, cells, dimensions == 1 ? 4 : 2);
  for (int d = 0; d < dimensions; ++d) {
    p.cells[d] = d == 0 ? cells : 6, p.lengths[d] = d == 0 ? 1 : 6.0 / cells;
  }
  const double V = 0.01, expected = 4.0 / 9 * std::sqrt(2) * std::pow(V, 1.5);
  p = between(p, 0, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::absorbed);
  p.electrostatic = true, p.dt = 4.0 / cells;
  p.potentials[0][std::size_t(1 - side)] = V;
  const double transit = 3 / std::sqrt(2 * V), area = dimensions == 1 ? 1 : p.lengths[1];
  p.emitters = {{.centre = {side ? 1.0 : 0.0, p.lengths[1] / 2, 0},
                 .normal = {side ? -1.0 : 1.0, 0, 0},
                 .half_width = dimensions == 1 ? 0 : p.lengths[1] / 2,
                 .space_charge_limited = true,
                 .weight = expected * area * transit / (dimensions == 1 ? 700 : 2000)}};
  const int steps = int(5 * transit / p.dt);
  const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    s.start();
    return s.advance(steps, false);
  });
  EXPECT_EQ(result.errors, std::vector<std::string>{""});
  if (result.rows.empty()) return 0;
  double arrived = 0, returned = 0;
  for (int row = steps * 2 / 5; row < steps; ++row) {
    arrived += at(result, p, std::size_t(row), record::at(0, record::left) + std::size_t(1 - side));
    returned += at(result, p, std::size_t(row), record::at(0, record::left) + std::size_t(side));
  }
  EXPECT_LT(returned, 0.1 * arrived);
  return arrived * p.emitters[0].weight / (0.6 * steps * p.dt) / area / expected;
}
// The field rises as the cube root of the distance: a mesh of spacing h sees it but for h^(2/3).
TEST(emission, limited_by_space_charge_is_that_of_child_and_langmuir) {
  const double coarse = limited_current(1, 50, 0), fine = limited_current(1, 100, 0);
  EXPECT_NEAR(fine, 1, 0.04);
  EXPECT_NEAR(fine + (fine - coarse) / (std::pow(2, 2.0 / 3) - 1), 1, 0.01);
  EXPECT_EQ(limited_current(1, 50, 1), coarse);  // the mirror image
  EXPECT_NEAR(limited_current(2, 24, 0), 1, 0.1);
}

}  // namespace
}  // namespace plaq::pic
