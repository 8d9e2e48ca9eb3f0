// Steps of a patch: messages through faces and corners, the record, Gauss's law, electrostatic fields.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "plans.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/processes/moving_window.hpp"
#include "plaq/pic/reference.hpp"
#include "plaq/pic/step.hpp"

namespace plaq::pic {
namespace {

using namespace test;

/// Adds a particle without charge effects at x of a cell.
template <class T>
void put_particle(patch<T>& self, std::size_t s, const point& cell, const std::array<double, 3>& x,
                  const std::array<double, 3>& u, double w = 1) {
  auto& all = self.species[s];
  for (int d = 0; d < self.mesh.dimensions; ++d) all.cell[d].push_back(cell[d]), all.x[d].push_back(T(x[d]));
  for (int c = 0; c < 3; ++c) all.u[c].push_back(T(u[c]));
  all.w.push_back(T(w));
}
std::vector<point> shifts_of(const plan& p, const index3& at) {
  std::vector<point> out;
  for (const auto& to : neighbours(p, at)) out.push_back(to.shift);
  return out;
}
plan uncharged(int dimensions, int patches = 3) {
  plan p = periodic(dimensions, 1, 12, patches);
  p.species_list[0].charge = 0, p.dt = 0.9 * p.courant();
  return p;
}

// One particle towards each neighbour, over faces, edges and corners.
template <class T>
void check_departures(int dimensions) {
  const plan p = uncharged(dimensions);
  const index3 middle{1, dimensions > 1, dimensions > 2};
  for (const auto& to : neighbours(p, middle)) {
    patch<T> self(p, point_of(middle)), other(p, point_of(to.at));
    point cell{};
    std::array<double, 3> x{0.5, 0.5, 0.5}, u{};
    for (int d = 0; d < dimensions; ++d) {
      cell[d] = to.shift[d] > 0 ? self.mesh.cells[d] - 1 : to.shift[d] < 0 ? 0 : 2;
      x[std::size_t(d)] = to.shift[d] > 0 ? 0.99 : to.shift[d] < 0 ? 0.01 : 0.5;
      u[std::size_t(d)] = 2 * to.shift[d];
    }
    put_particle(self, 0, cell, x, u);
    auto parcels = push(p, self, shifts_of(p, middle));
    EXPECT_TRUE(self.species[0].empty());
    for (auto& message : parcels) {
      EXPECT_EQ(message.particles.size(), message.shift == to.shift ? 1u : 0u);
      if (message.shift == to.shift) receive(p, other, std::move(message));
    }
    ASSERT_EQ(other.species[0].size(), 1u);
    for (int d = 0; d < dimensions; ++d) {
      const int expected = to.shift[d] > 0 ? 0 : to.shift[d] < 0 ? other.mesh.cells[d] - 1 : 2;
      EXPECT_EQ(other.species[0].cell[d][0], expected) << dimensions;
      EXPECT_TRUE(other.species[0].x[d][0] >= 0 && other.species[0].x[d][0] <= 1);
    }
  }
}
TEST(step, particles_leave_to_the_neighbour_at_every_face_edge_and_corner) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    check_departures<double>(dimensions), check_departures<float>(dimensions);
}

// All patches push, then receive: J of the box is that of one patch.
TEST(step, current_of_cut_boxes_is_that_of_one_patch) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order) {
      plan whole = periodic(dimensions, order, 8, 1), cut = periodic(dimensions, order, 8, 2);
      std::vector<double> expected[3];
      const auto in_box = [&](const plan& p, const patch<double>& self, const point& i) {
        point at{};
        for (int d = 0; d < 3; ++d) at[d] = self.mesh.first[d] + i[d];
        return std::size_t(at[0] + p.cells[0] * (at[1] + p.cells[1] * at[2]));
      };
      for (const plan& p : {whole, cut}) {
        std::vector<patch<double>> all;
        for (int n = 0; n < p.patches[0] * p.patches[1] * p.patches[2]; ++n)
          all.emplace_back(p, point_of(patch_of(p, n)));
        const patch_grid box(whole, {});
        const auto particles_of_box = some_particles<double>(box, 100);
        for (auto& self : all)
          for (std::size_t i = 0; i < particles_of_box.size(); ++i) {
            particles<double> one;
            one.append(particles_of_box, i, dimensions);
            bool inside = true;
            for (int d = 0; d < dimensions; ++d) {
              one.cell[d][0] -= self.mesh.first[d];
              inside = inside && one.cell[d][0] >= 0 && one.cell[d][0] < self.mesh.cells[d];
            }
            if (inside) self.species[0].append(one, dimensions);
          }
        std::vector<std::vector<parcel<double>>> out;
        for (auto& self : all) out.push_back(push(p, self, shifts_of(p, patch_of(p, self.number))));
        for (std::size_t n = 0; n < all.size(); ++n) {
          const auto around = neighbours(p, patch_of(p, int(n)));
          for (std::size_t k = 0; k < around.size(); ++k)
            receive(p, all[std::size_t(patch_number(p, around[k].at))], std::move(out[n][k]));
        }
        std::size_t count = 0;
        for (auto& self : all) {
          count += self.size();
          for (int c = 0; c < 3; ++c) {
            auto& j = expected[c];
            j.resize(own_cells(box).size());
            const region r = own_cells(self.mesh);
            for (int z = r.low[2]; z < r.high[2]; ++z)
              for (int y = r.low[1]; y < r.high[1]; ++y)
                for (int x = r.low[0]; x < r.high[0]; ++x) {
                  const double value = self.f.j[c][std::size_t(self.mesh.index({x, y, z}))];
                  auto& target = j[in_box(p, self, {x, y, z})];
                  if (p.patches[0] == 1)
                    target = value;
                  else
                    EXPECT_NEAR(value, target, 1e-10 * (1 + std::abs(target))) << dimensions << order;
                }
          }
        }
        EXPECT_EQ(count, 100u);
      }
    }
}

TEST(step, a_particle_that_reaches_no_neighbour_is_an_error) {
  const plan p = uncharged(1);
  patch<double> self(p, {1, 0, 0});
  put_particle(self, 0, {0, 0, 0}, {0.01, 0, 0}, {-3, 0, 0});
  EXPECT_THROW(push(p, self, {{1, 0, 0}}), runtime_failure);  // no parcel to lower x
}

TEST(step, a_momentum_that_is_not_finite_names_the_species) {
  plan p = uncharged(1);
  p.species_list.push_back({"heavy", 0, 10, pusher::vay});
  patch<double> self(p, {1, 0, 0});
  put_particle(self, 1, {2, 0, 0}, {0.5, 0, 0}, {0, std::nan(""), 0});
  try {
    push(p, self, shifts_of(p, {1, 0, 0}));
    FAIL();
  } catch (const runtime_failure& error) {
    EXPECT_NE(std::string(error.what()).find("species \"heavy\": "), std::string::npos);
  }
}

TEST(step, the_record_has_weight_energy_and_momentum_of_each_species) {
  plan p = uncharged(2);
  p.species_list.push_back({"heavy", 0, 10, pusher::boris});
  patch<double> self(p, {1, 1, 0});
  const std::array<double, 3> u{0.3, -0.2, 0.1};
  put_particle(self, 1, {2, 2, 0}, {0.5, 0.5, 0}, u, 3);
  put_particle(self, 1, {1, 2, 0}, {0.5, 0.5, 0}, u, 4);
  push(p, self, shifts_of(p, {1, 1, 0}));
  count_particles(p, self);
  EXPECT_EQ(self.row[record::at(0, record::number)], 0);
  EXPECT_EQ(self.row[record::at(1, record::number)], 2);
  EXPECT_EQ(self.row[record::at(1, record::weight)], 7);
  EXPECT_NEAR(self.row[record::at(1, record::kinetic)], 10 * 7 * (std::sqrt(1 + 0.14) - 1), 1e-13);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(self.row[record::at(1, record::momentum) + c], 10 * 7 * u[c], 1e-13);
  finish_step(p, self);
  EXPECT_EQ(self.step, 1);
  EXPECT_EQ(self.rows[record::time], p.dt);
  EXPECT_TRUE(std::isnan(self.rows[record::gauss(p)]));
  EXPECT_EQ(self.rows.size(), record::length(p));
}

TEST(step, arrivals_between_steps_are_in_the_next_record_once) {
  const plan p = uncharged(1);
  patch<double> self(p, {1, 0, 0});
  self.next_row[record::at(0, record::emitted)] = 2;
  push(p, self, shifts_of(p, {1, 0, 0})), count_particles(p, self);
  EXPECT_EQ(self.row[record::at(0, record::emitted)], 2);
  push(p, self, shifts_of(p, {1, 0, 0})), count_particles(p, self);
  EXPECT_EQ(self.row[record::at(0, record::emitted)], 0);
}

TEST(step, ids_of_all_patches_are_different) {
  plan p = periodic(2, 1, 9, 3);
  std::set<std::uint64_t> ids;
  for (int n = 0; n < 9; ++n) {
    patch<float> self(p, point_of(patch_of(p, n)));
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(ids.insert(self.new_id(p)).second);
  }
}

// Gauss's law ---------------------------------------------------------------------------------------------------------

TEST(step, gauss_law_has_the_largest_change_of_the_residual) {
  const plan p = periodic(2, 1, 9, 3);
  patch<double> self(p, {1, 1, 0});
  self.row.assign(record::length(p), 0);
  fill(self.f, 1);
  initialise_momenta(p, self);  // stores the background
  finish_step(p, self);
  check_gauss_law(p, self);
  EXPECT_EQ(self.rows[record::gauss(p)], 0);
  self.f.rho[std::size_t(self.mesh.index({1, 2, 0}))] += 0.25;
  self.f.rho[std::size_t(self.mesh.index({2, 2, 0}))] -= 0.5;
  self.f.rho[std::size_t(self.mesh.index({-1, 2, 0}))] += 8;  // of another patch
  check_gauss_law(p, self);
  EXPECT_NEAR(self.rows[record::gauss(p)], 0.5, 1e-13);
}

TEST(step, gauss_law_is_not_checked_on_walls_in_layers_and_in_conductors) {
  plan p = between(periodic(1, 1, 30, 2), 0, field_boundary::absorbing, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.field_boundaries[0][1] = field_boundary::conducting, p.layer = 4;
  p.conductors = {{.nodes = {9, 10}}};
  patch<double> low(p, {0, 0, 0}), high(p, {1, 0, 0});
  for (patch<double>* self : {&low, &high})
    self->row.assign(record::length(p), 0), initialise_momenta(p, *self), finish_step(p, *self);
  const auto seen_at = [&](patch<double>& self, int node) {
    self.f.rho.assign(self.f.rho.size(), 0);
    self.f.rho[std::size_t(self.mesh.index({node - self.mesh.first[0], 0, 0}))] = 1;
    check_gauss_law(p, self);
    return self.rows[record::gauss(p)] > 0;
  };
  for (int node = 0; node < 15; ++node) EXPECT_EQ(seen_at(low, node), node > 4 && node != 9 && node != 10) << node;
  for (int node = 15; node < 30; ++node) EXPECT_TRUE(seen_at(high, node)) << node;
}

TEST(step, gauss_law_before_the_start_is_an_error) {
  const plan p = periodic(1, 1);
  patch<double> self(p, {0, 0, 0});
  self.row.assign(record::length(p), 0);
  finish_step(p, self);
  EXPECT_THROW(check_gauss_law(p, self), runtime_failure);
}

TEST(step, charge_halos_complete_the_charge_at_the_edges) {
  const plan p = periodic(1, 2, 8, 2);
  patch<double> left(p, {0, 0, 0}), right(p, {1, 0, 0});
  put_particle(left, 0, {left.mesh.cells[0] - 1, 0, 0}, {0.9, 0, 0}, {});
  for (patch<double>* self : {&left, &right}) deposit_own_charge(p, *self);
  const auto to_right = make_charge_halo(left, {1, 0, 0}), to_left = make_charge_halo(right, {-1, 0, 0});
  receive_charge(right, to_right), receive_charge(left, to_left);
  double sum = 0;
  for (const patch<double>* self : {&left, &right})
    for (int i = 0; i < self->mesh.cells[0]; ++i) sum += self->f.rho[std::size_t(self->mesh.index({i, 0, 0}))];
  EXPECT_NEAR(sum * p.cell_volume(), -1, 1e-14);
  EXPECT_LT(right.f.rho[std::size_t(right.mesh.index({0, 0, 0}))], 0);
}

// Electrostatic fields ---------------------------------------------------------------------------------------------

template <class T>
void check_gradient(int dimensions) {
  plan p = periodic(dimensions, 1, 8, 2);
  p.electrostatic = true;
  patch<T> self(p, {0, 0, 0});
  std::vector<double> phi(self.mesh.size());
  for (std::size_t i = 0; i < phi.size(); ++i) phi[i] = drawn(51, i);
  set_electric_field(p, self, phi);
  const region r = own_cells(self.mesh);
  for (int k = r.low[2]; k < r.high[2]; ++k)
    for (int j = r.low[1]; j < r.high[1]; ++j)
      for (int i = r.low[0]; i < r.high[0]; ++i)
        for (int d = 0; d < 3; ++d) {
          const auto at = self.mesh.index({i, j, k});
          const double gradient =
              d < dimensions ? (phi[std::size_t(at + self.mesh.stride[d])] - phi[std::size_t(at)]) / p.spacing(d) : 0;
          EXPECT_NEAR(self.f.e[d][std::size_t(at)], -gradient, 1e-5);
        }
  EXPECT_EQ(self.f.phi.size(), phi.size());
}
TEST(step, electrostatic_fields_are_minus_the_gradient) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    check_gradient<double>(dimensions), check_gradient<float>(dimensions);
}

TEST(step, paths_through_several_patches_continue_until_none_is_unfinished) {
  plan p = periodic(1, 1, 12, 4);
  p.electrostatic = true, p.species_list[0].charge = 0, p.dt = 8 * p.spacing(0);  // 8 cells at most
  std::vector<patch<double>> all;
  for (int n = 0; n < 4; ++n) all.emplace_back(p, point{n, 0, 0});
  put_particle(all[0], 0, {1, 0, 0}, {0.5, 0, 0}, {4, 0, 0});
  const double cells = 8 * 4 / std::sqrt(17.0);
  const auto deliver = [&](auto make) {
    std::vector<std::vector<parcel<double>>> out;
    for (auto& self : all) out.push_back(make(self, shifts_of(p, {self.number, 0, 0})));
    for (int n = 0; n < 4; ++n) {
      const auto around = neighbours(p, {n, 0, 0});
      for (std::size_t k = 0; k < around.size(); ++k)
        receive(p, all[std::size_t(around[k].at.x)], std::move(out[std::size_t(n)][k]));
    }
    std::size_t unfinished = 0;
    for (const auto& self : all) unfinished += self.unfinished();
    return unfinished;
  };
  int rounds = 0;
  for (auto left = deliver([&](auto& self, const auto& shifts) { return push(p, self, shifts); }); left > 0; ++rounds)
    left = deliver([&](auto& self, const auto& shifts) { return continue_push(p, self, shifts); });
  EXPECT_EQ(rounds, 3);  // over three sides of patches
  int count = 0;
  for (const auto& self : all)
    for (std::size_t i = 0; i < self.species[0].size(); ++i, ++count)
      EXPECT_NEAR(self.mesh.first[0] + self.species[0].cell[0][i] + self.species[0].x[0][i], 1.5 + cells, 1e-12);
  EXPECT_EQ(count, 1);
}

// Moving window
// --------------------------------------------------------------------------------------------------------

TEST(moving_window, shifts_fields_and_particles_by_a_cell) {
  plan p = between(periodic(2, 1, 12, 2), 0, field_boundary::conducting, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  for (const int patch_x : {0, 1}) {
    patch<float> self(p, {patch_x, 1, 0});
    fill(self.f, 1);
    const auto before = self.f;
    put_particle(self, 0, {0, 1, 0}, {0.3, 0.4, 0}, {}, 2);
    put_particle(self, 0, {3, 1, 0}, {0.6, 0.4, 0}, {}, 1);
    const auto message = shift_patch(p, self);
    EXPECT_EQ(self.mesh.first[0], 6 * patch_x + 1);
    for (int j = 0; j < self.mesh.cells[1]; ++j)
      for (int i = 0; i < self.mesh.cells[0]; ++i) {
        const auto at = std::size_t(self.mesh.index({i, j, 0}));
        const bool enters = patch_x == 1 && i == self.mesh.cells[0] - 1;
        EXPECT_EQ(self.f.e[1][at], enters ? 0 : before.e[1][at + 1]);
        EXPECT_EQ(self.f.b[2][at], enters ? 0 : before.b[2][at + 1]);
      }
    ASSERT_EQ(self.species[0].size(), 1u);
    EXPECT_EQ(self.species[0].cell[0][0], 2);
    EXPECT_EQ(self.next_row[record::at(0, record::left)], patch_x == 0 ? 1 : 0);
    EXPECT_EQ(self.next_row[record::at(0, record::left_weight)], patch_x == 0 ? 2 : 0);
    EXPECT_EQ(message.particles.size(), patch_x == 0 ? 0u : 1u);
    if (patch_x == 1) {
      EXPECT_EQ(message.particles[0].cell[0], -1);
    }
    EXPECT_TRUE(message.current.empty());
  }
}

}  // namespace
}  // namespace plaq::pic
