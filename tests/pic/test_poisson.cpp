// Poisson's equation, and electrostatic plasmas.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "plaq/base/error.hpp"
#include "plaq/pic/fields/conductors.hpp"
#include "plaq/pic/mesh/conductor_nodes.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/mesh/permittivity.hpp"
#include "plaq/pic/poisson/poisson.hpp"
#include "plaq/task/task.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

/// Returns phi in the grids of all patches, from a charge in the cells of the box; solved on so many ranks.
std::map<int, std::vector<double>> solved(const plan& p, const std::vector<double>& rho, int ranks = 1) {
  std::map<int, std::vector<double>> out;
  std::mutex guard;
  const auto errors = plaq::test::on_ranks(ranks, 1, [&](const comm::communicator& world) {
    task::with_backend("os", {.workers = 1}, [&](auto& pool) {
      const auto solver = make_poisson(p, world, pool);
      std::vector<patch_values> local;
      for (int n = world.rank(); n < p.patches[0] * p.patches[1] * p.patches[2]; n += world.size()) {
        const patch_grid m(p, point_of(patch_of(p, n)));
        local.push_back({n, {}});
        for (int k = 0; k < m.cells[2]; ++k)
          for (int j = 0; j < m.cells[1]; ++j)
            for (int i = 0; i < m.cells[0]; ++i)
              local.back().values.push_back(
                  rho[std::size_t(m.first[0] + i + p.cells[0] * (m.first[1] + j + p.cells[1] * (m.first[2] + k)))]);
      }
      auto solution = solver->solve(local, p.electrode_potentials());
      std::lock_guard lock(guard);
      for (auto& phi : solution) {
        const patch_grid m(p, point_of(patch_of(p, phi.patch)));
        set_conductor_potentials(p, m, solid_mask(p, m), p.electrode_potentials(), phi.values);
        out[phi.patch] = std::move(phi.values);
      }
    });
  });
  EXPECT_EQ(errors, std::vector<std::string>(std::size_t(ranks)));
  return out;
}

std::vector<double> some_charge(const plan& p) {
  std::vector<double> rho(std::size_t(p.cells[0] * p.cells[1] * p.cells[2]));
  for (std::size_t i = 0; i < rho.size(); ++i) rho[i] = drawn(9, i);
  return rho;
}

/// Calls use(node, -div(epsilon grad phi) - rho, phi) at every node of the box that is not on a side.
template <class Use>
void for_each_residual(const plan& p, const std::vector<double>& rho, const std::map<int, std::vector<double>>& phi,
                       Use use) {
  for (const auto& [n, values] : phi) {
    const patch_grid m(p, point_of(patch_of(p, n)));
    point at;
    for (at[2] = 0; at[2] < m.cells[2]; ++at[2])
      for (at[1] = 0; at[1] < m.cells[1]; ++at[1])
        for (at[0] = 0; at[0] < m.cells[0]; ++at[0]) {
          const point node{m.first[0] + at[0], m.first[1] + at[1], m.first[2] + at[2]};
          double sum = 0;
          bool on_side = false;
          for (int d = 0; d < p.dimensions; ++d) {
            const auto i = m.index(at), s = m.stride[d];
            on_side = on_side || (!p.periodic(d) && node[d] == 0);
            point before = node;
            --before[d];
            sum += (edge_permittivity(p, node, d) * (values[std::size_t(i)] - values[std::size_t(i + s)]) +
                    edge_permittivity(p, before, d) * (values[std::size_t(i)] - values[std::size_t(i - s)])) /
                   (p.spacing(d) * p.spacing(d));
          }
          if (!on_side)
            use(node, sum - rho[std::size_t(node[0] + p.cells[0] * (node[1] + p.cells[1] * node[2]))],
                values[std::size_t(m.index(at))]);
        }
  }
}

// For any charge, sides, number of cells and patches: the second differences of phi are -rho, but for the mean; in
// the guard cells too.
TEST(poisson, solves_its_equation) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int bounded = 0; bounded < 1 << dimensions; ++bounded) {
      plan p = periodic(dimensions, 1, 7, 2);
      p.electrostatic = true;
      for (int d = 0; d < dimensions; ++d)
        if (bounded >> d & 1) {
          p = between(p, d, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::absorbed);
          p.potentials[std::size_t(d)] = {0.3, -0.7};
          p.patches[d] = 1;
        }
      p.check();
      const auto rho = some_charge(p);
      double mean = 0;
      for (const double r : rho) mean += bounded ? 0 : r / double(rho.size());
      const auto phi = solved(p, rho);
      EXPECT_EQ(phi, solved(p, rho, 3));
      for_each_residual(p, rho, phi, [&](const point&, double residual, double) {
        EXPECT_NEAR(residual, -mean, 1e-12) << dimensions << " " << bounded;
      });
      if (bounded == 1 && dimensions == 1) {
        const patch_grid m(p, {});
        EXPECT_EQ(phi.at(0)[std::size_t(m.index({0, 0, 0}))], 0.3);
        EXPECT_EQ(phi.at(0)[std::size_t(m.index({p.cells[0], 0, 0}))], -0.7);
      }
    }
}

/// Box between conducting sides in x, with a round conductor at a potential in it and a plane of nodes at another.
plan with_conductors(int dimensions) {
  plan p = between(periodic(dimensions, 2, 12, 2), 0, field_boundary::conducting, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.electrostatic = true, p.potentials[0] = {0.2, -0.1};
  p.conductors.resize(2);
  p.conductors[0].potential = 1, p.conductors[1].potential = -0.5;
  point at{};
  for (at[2] = 0; at[2] < p.nodes(2); ++at[2])
    for (at[1] = 0; at[1] < p.nodes(1); ++at[1])
      for (at[0] = 0; at[0] < p.nodes(0); ++at[0]) {
        double r2 = 0;
        for (int d = 0; d < dimensions; ++d) r2 += (at[d] - 4) * (at[d] - 4);
        if (r2 < 6) p.conductors[0].nodes.push_back(number_of_node(p, at));
        if (at[0] == 9) p.conductors[1].nodes.push_back(number_of_node(p, at));
      }
  p.check();
  return p;
}

// Potentials of the conductors at all of their nodes, inner ones too, and -laplace phi = rho elsewhere.
TEST(poisson, conductors_in_the_box_have_their_potentials) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const plan p = with_conductors(dimensions);
    auto rho = some_charge(p);
    std::map<std::int64_t, double> potentials;
    for (const auto& c : p.conductors)
      for (const auto n : c.nodes) potentials[n] = c.potential;
    for (std::size_t i = 0; i < rho.size(); ++i) {  // none inside
      const point at{int(i) % p.cells[0], int(i) / p.cells[0] % p.cells[1], int(i) / p.cells[0] / p.cells[1]};
      if (potentials.contains(number_of_node(p, at))) rho[i] = 0;
    }
    const auto phi = solved(p, rho);
    if (dimensions < 3) EXPECT_EQ(phi, solved(p, rho, 2));
    std::size_t visited = 0;
    for_each_residual(p, rho, phi, [&](const point& node, double residual, double value) {
      const auto entry = potentials.find(number_of_node(p, node));
      if (entry == potentials.end()) {
        EXPECT_NEAR(residual, 0, 1e-11) << dimensions;
      } else {
        EXPECT_NEAR(value, entry->second, 1e-12) << dimensions;
        ++visited;
      }
    });
    EXPECT_EQ(visited, potentials.size());
  }
}

// Edges that surfaces cut count with their part outside of the conductor, on any ranks; E along them is larger by as
// much.
TEST(poisson, surfaces_cut_edges_at_any_place) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    plan p = with_conductors(dimensions);
    std::map<std::pair<std::int64_t, int>, double> parts;
    for (const surface_edge& e : surface_edges(p)) {
      const double part = 0.01 + 0.99 * (drawn(3, parts.size()) + 1) / 2;
      p.conductors[e.conductor].cuts.push_back({e.node, e.direction, part});
      parts[e.key()] = part;
    }
    p.check();
    const auto rho = some_charge(p);
    const auto phi = solved(p, rho);
    EXPECT_EQ(phi, solved(p, rho, 2));
    std::size_t cut = 0;
    for (const auto& [n, values] : phi) {
      const patch_grid m(p, point_of(patch_of(p, n)));
      const solid_mask solids(p, m);
      point at;
      for (at[2] = 0; at[2] < m.cells[2]; ++at[2])
        for (at[1] = 0; at[1] < m.cells[1]; ++at[1])
          for (at[0] = m.first[0] == 0; at[0] < m.cells[0]; ++at[0]) {
            const auto i = m.index(at);
            const point node{m.first[0] + at[0], m.first[1] + at[1], m.first[2] + at[2]};
            if (solids.nodes[std::size_t(i)]) continue;
            double sum = 0;
            for (int direction = 0; direction < 2 * p.dimensions; ++direction) {
              const int d = direction / 2, step = direction % 2 ? 1 : -1;
              const auto found = parts.find({number_of_node(p, node), direction});
              const double part = found == parts.end() ? 1 : found->second;
              EXPECT_EQ(solids.part_outside(std::size_t(step > 0 ? i : i - m.stride[d]), d), part);
              sum += (values[std::size_t(i)] - values[std::size_t(i + step * m.stride[d])]) /
                     (part * p.spacing(d) * p.spacing(d));
              cut += found != parts.end();
            }
            const double charge = rho[std::size_t(node[0] + p.cells[0] * (node[1] + p.cells[1] * node[2]))];
            EXPECT_NEAR(sum, charge, 1e-9) << dimensions;
          }
    }
    EXPECT_EQ(cut, parts.size());
  }
}

// With dielectrics in any cells, also beside conductors, sides and themselves across a periodic side.
TEST(poisson, solves_its_equation_with_dielectrics) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (const bool conductors : {false, true}) {
      plan p = with_conductors(dimensions);
      if (!conductors) p.conductors.clear();
      std::map<std::int64_t, double> potentials;
      for (const auto& c : p.conductors)
        for (const auto n : c.nodes) potentials[n] = c.potential;
      auto rho = some_charge(p);
      for (std::size_t i = 0; i < rho.size(); ++i) {
        const point at{int(i) % p.cells[0], int(i) / p.cells[0] % p.cells[1], int(i) / p.cells[0] / p.cells[1]};
        if (potentials.contains(number_of_node(p, at))) rho[i] = 0;
        const int block = at[0] / 3 + 5 * (at[1] / 4) + 7 * (at[2] / 5);
        p.permittivity.push_back(block % 3 == 0 ? 1 : block % 3 == 1 ? 4 : 30);
      }
      p.check();
      const auto phi = solved(p, rho);
      if (dimensions < 3) EXPECT_EQ(phi, solved(p, rho, 3));  // in three many nodes are between dielectrics
      for_each_residual(p, rho, phi, [&](const point& node, double residual, double value) {
        const auto entry = potentials.find(number_of_node(p, node));
        if (entry == potentials.end())
          EXPECT_NEAR(residual, 0, 1e-10) << dimensions << conductors;
        else
          EXPECT_NEAR(value, entry->second, 1e-11) << dimensions;
      });
    }
}

// A solid cell absorbs particles; a plane of nodes lets them through.
TEST(poisson, conductors_absorb_particles_and_count_them) {
  plan p = with_conductors(2);
  const auto body = [](plasma& s) {
    fill(
        s,
        {.per_cell = 4, .drift = [](std::size_t, const double*) { return std::array{0.3, 0.0, 0.0}; }, .thermal = 0.1});
    s.start();
    return s.advance(20, true);
  };
  const run one = on(1, p, {.pool = {.workers = 1}}, body);
  ASSERT_EQ(one.errors, std::vector<std::string>{""});
  EXPECT_TRUE(same(one, on(3, p, {.pool = {.workers = 1}}, body)));
  double absorbed = 0, weight = 0;
  for (std::size_t row = 0; row < 20; ++row) {
    absorbed += at(one, p, row, record::at(0, record::absorbed));
    weight += at(one, p, row, record::at(0, record::absorbed_weight));
    EXPECT_LT(at(one, p, row, record::gauss(p)), 1e-11);
  }
  EXPECT_GT(absorbed, 60);  // those that began inside, and more
  EXPECT_NEAR(weight, absorbed * 0.01, 1e-9);
  for (const auto& [patch, values] : one.all) EXPECT_FALSE(values.empty());
}

// E is 0 within; in front of a thick conductor the wave stands, with twice the amplitude.
TEST(conductors, keep_light_out) {
  plan p = periodic(1, 1, 80, 4);
  p.species_list.clear();
  for (int n = 60; n < 70; ++n) p.conductors.resize(1), p.conductors[0].nodes.push_back(n);
  double largest = 0;
  const run result = on(2, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    for (const int patch : s.local_patches()) {
      const patch_grid m = s.mesh(patch);
      std::vector<double> e(3 * std::size_t(m.cells[0])), b(e.size());
      for (int i = 0; i < m.cells[0]; ++i) {  // a pulse to the right
        const auto pulse = [](double x) { return std::exp(-0.5 * std::pow((x - 6) / 1.0, 2)); };
        e[std::size_t(m.cells[0] + i)] = pulse(0.2 * (m.first[0] + i));
        b[std::size_t(2 * m.cells[0] + i)] = pulse(0.2 * (m.first[0] + i + 0.5));
      }
      s.set_fields(patch, e, b);
    }
    s.start();
    for (int step = 0; step < 100; ++step) {
      s.advance(1, false);
      for (const int patch : s.local_patches()) {
        const auto ey = s.field(patch, "ey"), bz = s.field(patch, "bz");
        static std::mutex guard;
        std::lock_guard lock(guard);
        for (int i = 0; i < s.mesh(patch).cells[0]; ++i) {
          const int at = s.mesh(patch).first[0] + i;
          if (at >= 60 && at < 70) {
            EXPECT_EQ(ey[std::size_t(i)], 0);
          }
          if (at < 60) largest = std::max(largest, std::abs(bz[std::size_t(i)]));
        }
      }
    }
    return std::vector<double>();
  });
  EXPECT_EQ(result.errors, std::vector<std::string>(2));
  EXPECT_NEAR(largest, 2, 0.05);
}

// E = V / d between empty plates, in every patch.
TEST(poisson, field_between_plates) {
  plan p = between(periodic(2, 2, 12, 2), 0, field_boundary::conducting, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.electrostatic = true, p.potentials[0] = {0.5, -0.7};
  const run result = on(2, p, {.pool = {.workers = 1}}, [](plasma& s) {
    s.start();
    for (const int patch : s.local_patches()) {
      for (const double e : s.field(patch, "ex")) EXPECT_NEAR(e, 1.2 / 2.4, 1e-13);
      for (const double e : s.field(patch, "ey")) EXPECT_NEAR(e, 0, 1e-13);
      const auto phi = s.field(patch, "phi");
      const patch_grid m = s.mesh(patch);
      for (std::size_t n = 0; n < phi.size(); ++n) {
        const int i = m.first[0] + int(n) % m.cells[0];
        EXPECT_NEAR(phi[n], 0.5 - 1.2 * i / 12, 1e-13);
      }
    }
    return std::vector<double>();
  });
  EXPECT_EQ(result.errors, std::vector<std::string>(2));
}

TEST(poisson, gauss_holds_and_results_do_not_depend_on_ranks) {
  for (const bool bounded : {false, true}) {
    plan p = periodic(2, 2, 10, 2);
    if (bounded)
      p = between(p, 1, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::reflected);
    p.electrostatic = true;
    p.species_list.push_back({"ions", 1, 25, pusher::boris});
    const auto body = [](plasma& s) {
      fill(s, {.per_cell = 4, .thermal = 0.3});
      s.start();
      return s.advance(15, true);
    };
    const run one = on(1, p, {.pool = {.workers = 1}}, body), three = on(3, p, {.pool = {.workers = 1}}, body);
    ASSERT_EQ(one.errors, std::vector<std::string>{""});
    EXPECT_TRUE(same(one, three));
    for (std::size_t row = 0; row < 15; ++row) {
      EXPECT_LT(at(one, p, row, record::gauss(p)), 1e-12);
      EXPECT_GT(at(one, p, row, record::energies), 0);
      EXPECT_EQ(at(one, p, row, record::energies + 3), 0);
    }
  }
}

// Unequal charges: div E = rho but for the mean.
TEST(poisson, gives_the_field_of_the_initial_charge) {
  plan p = periodic(2, 1, 9, 3);
  const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    fill(s, {.per_cell = 3});
    s.solve_poisson();
    s.compute_charge();
    double largest = 0;
    for (const int patch : s.local_patches()) {
      const auto rho = s.field(patch, "rho"), ex = s.field(patch, "ex"), ey = s.field(patch, "ey");
      const patch_grid m = s.mesh(patch);
      for (int j = 1; j < m.cells[1]; ++j)
        for (int i = 1; i < m.cells[0]; ++i) {
          const auto n = std::size_t(i + m.cells[0] * j), row = std::size_t(m.cells[0]);
          largest = std::max(largest, std::abs((ex[n] - ex[n - 1] + ey[n] - ey[n - row]) / 0.2 - rho[n] - 1));
        }
    }
    EXPECT_LT(largest, 1e-12);
    return std::vector<double>();
  });
  EXPECT_EQ(result.errors, std::vector<std::string>{""});
}

// Bohm and Gross: w^2 = w_p^2 + 3 k^2 v^2, here for cold electrons: the period of the energy is pi.
TEST(poisson, electrostatic_plasma_frequency) {
  plan p = periodic(1, 2, 32, 2);
  p.electrostatic = true, p.lengths[0] = 2 * std::numbers::pi, p.dt = 0.1;
  const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    fill(s, {.per_cell = 8,
             .even = true,
             .drift = [](std::size_t, const double* x) { return std::array{0.01 * std::sin(x[0]), 0.0, 0.0}; },
             .thermal = 0});
    s.start();
    return s.advance(int(20 * std::numbers::pi / p.dt), false);
  });
  // E ~ sin t: what its energy has in common with cos 2 t' is largest at t' = t.
  double c = 0, s = 0;
  const std::size_t n = rows_of(result, p), half = n / 2;
  const auto phase = [&](std::size_t from) {
    c = s = 0;
    for (std::size_t row = from; row < from + half; ++row) {
      const double t = at(result, p, row, record::time), e = at(result, p, row, record::energies);
      c += e * std::cos(2 * t), s += e * std::sin(2 * t);
    }
    return std::atan2(s, c);
  };
  const double drift = std::remainder(phase(half) - phase(0), 2 * std::numbers::pi);
  EXPECT_LT(std::abs(drift / (2 * double(half) * p.dt)), 0.005);  // of the frequency
  EXPECT_GT(std::hypot(c, s), 1e-8);
}

TEST(poisson, needs_conductors_for_potentials) {
  plan p =
      between(periodic(1, 1), 0, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::absorbed);
  p.potentials[0][1] = 1;
  EXPECT_THROW(p.check(), input_error);
  p.electrostatic = true;
  p.dt = 10;  // no Courant limit
  p.check();
  p.field_boundaries[0] = {field_boundary::absorbing, field_boundary::absorbing};
  EXPECT_THROW(p.check(), input_error);
}

}  // namespace
}  // namespace plaq::pic
