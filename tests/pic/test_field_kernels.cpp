// Kernels of the fields against direct loops, for all dimensions, precisions and stencils; absorbing layers;
// conductors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "plans.hpp"
#include "plaq/pic/fields/absorbing.hpp"
#include "plaq/pic/fields/conductors.hpp"
#include "plaq/pic/fields/differences.hpp"
#include "plaq/pic/fields/field_kernels.hpp"
#include "plaq/pic/mesh/conductor_nodes.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/reference.hpp"

namespace plaq::pic {
namespace {

using namespace test;

/// Returns dF/dx_d half a cell on from cell i, as the plan's stencil says, in double.
template <class T>
double forward(const plan& p, const patch_grid& m, const std::vector<T>& f, const point& i, int d) {
  if (d >= p.dimensions) return 0;
  const auto value = [&](point at) { return double(f[std::size_t(m.index(at))]); };
  const auto step = [&](point at) {
    point next = at;
    ++next[d];
    return value(next) - value(at);
  };
  if (p.curl == stencil::yee || (p.curl == stencil::cowan && p.dimensions == 1)) return step(i) / p.spacing(d);
  const stencil_weights w = difference_weights(p)[std::size_t(d)];
  double sum = w.alpha * step(i);
  for (int t = 0; t < p.dimensions; ++t)
    for (const int by : {-1, 1}) {
      if (t == d) continue;
      point beside = i;
      beside[t] += by;
      sum += w.beta[std::size_t(t)] * step(beside);
    }
  if (d == 0) {
    point low = i, high = i;
    --low[0], high[0] += 2;
    if (w.delta != 0) sum += w.delta * (value(high) - value(low));
  }
  const int a = (d + 1) % 3, b = (d + 2) % 3;
  if (p.dimensions == 3)
    for (const int s : {-1, 1})
      for (const int t : {-1, 1}) {
        point corner = i;
        corner[a] += s, corner[b] += t;
        sum += w.gamma * step(corner);
      }
  return sum;
}
/// Returns dF/dx_d half a cell before cell i.
template <class T>
double backward(const plan& p, const patch_grid& m, const std::vector<T>& f, point i, int d) {
  if (d >= p.dimensions) return 0;
  point before = i;
  --before[d];
  return (double(f[std::size_t(m.index(i))]) - double(f[std::size_t(m.index(before))])) / p.spacing(d);
}

template <class T>
void fill_all(fields<T>& f) {
  fill(f, 1);
  std::uint64_t n = 0;
  for (auto& component : f.j)
    for (T& x : component) x = T(drawn(21, n++));
  for (T& x : f.rho) x = T(drawn(22, n++));
}

/// Calls test(plan) for all dimensions and stencils.
template <class Test>
void for_all_stencils(Test test) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (const stencil curl : {stencil::yee, stencil::cowan, stencil::lehe}) {
      SCOPED_TRACE("dimensions " + std::to_string(dimensions) + ", stencil " + std::to_string(int(curl)));
      plan p = periodic(dimensions, 2, 6, 1);
      p.curl = curl, p.lengths[0] *= 1.3;
      test(p);
    }
}

// dB/dt = -curl E wherever E around is known: everywhere but in the last guard cells.
template <class T>
void check_b() {
  for_all_stencils([](const plan& p) {
    const patch_grid m(p, {});
    fields<T> f(m);
    fill_all(f);
    const fields<T> before = f;
    advance_b(m, f, 0.03);
    const double tolerance = 8 * double(std::numeric_limits<T>::epsilon());
    region r = with_guards(m);
    for (int d = 0; d < p.dimensions; ++d) r.low[d] += m.smoothed, r.high[d] -= d == 0 ? m.reach : 1;
    reference::for_each_cell(m, [&](const point& i) {
      bool inside = true;
      for (int d = 0; d < 3; ++d) inside = inside && i[d] >= r.low[d] && i[d] < r.high[d];
      for (int c = 0; c < 3; ++c) {
        const auto at = std::size_t(m.index(i));
        const int d1 = (c + 1) % 3, d2 = (c + 2) % 3;
        const double curl = inside ? forward(p, m, before.e[d2], i, d1) - forward(p, m, before.e[d1], i, d2) : 0;
        EXPECT_NEAR(f.b[c][at], double(before.b[c][at]) - 0.03 * curl, tolerance) << i[0] << " " << i[1] << " " << c;
      }
    });
    EXPECT_EQ(f.e, before.e);
  });
}
TEST(field_kernels, b_advances_by_minus_curl_e) {
  check_b<double>();
  check_b<float>();
}

// dE/dt = curl B - J in own cells, and nothing elsewhere.
template <class T>
void check_e() {
  for_all_stencils([](const plan& p) {
    const patch_grid m(p, {});
    fields<T> f(m);
    fill_all(f);
    const fields<T> before = f;
    advance_e(m, f, 0.03);
    const double tolerance = 8 * double(std::numeric_limits<T>::epsilon());
    reference::for_each_cell(m, [&](const point& i) {
      bool own = true;
      for (int d = 0; d < 3; ++d) own = own && i[d] >= 0 && i[d] < m.cells[d];
      for (int c = 0; c < 3; ++c) {
        const auto at = std::size_t(m.index(i));
        const int d1 = (c + 1) % 3, d2 = (c + 2) % 3;
        const double rate =
            own ? backward(p, m, before.b[d2], i, d1) - backward(p, m, before.b[d1], i, d2) - double(before.j[c][at])
                : 0;
        EXPECT_NEAR(f.e[c][at], double(before.e[c][at]) + 0.03 * rate, tolerance) << i[0] << " " << i[1] << " " << c;
      }
    });
    EXPECT_EQ(f.b, before.b);
  });
}
TEST(field_kernels, e_advances_by_curl_b_minus_j) {
  check_e<double>();
  check_e<float>();
}

TEST(field_kernels, energies_and_residuals_are_sums_over_the_region) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const plan p = periodic(dimensions, 1, 6, 1);
    const patch_grid m(p, {});
    fields<double> f(m);
    fill_all(f);
    region r = own_cells(m);
    r.low[0] = 2;
    const auto energies = field_energies(m, r, f);
    const auto residual = gauss_residual(m, r, f);
    ASSERT_EQ(residual.size(), r.size());
    std::array<double, 6> expected{};
    std::size_t n = 0;
    for (int k = r.low[2]; k < r.high[2]; ++k)
      for (int j = r.low[1]; j < r.high[1]; ++j)
        for (int i = r.low[0]; i < r.high[0]; ++i, ++n) {
          const auto at = std::size_t(m.index({i, j, k}));
          double div = 0;
          for (int d = 0; d < dimensions; ++d) div += backward(p, m, f.e[d], {i, j, k}, d);
          EXPECT_NEAR(residual[n], div - f.rho[at], 1e-12);
          for (int c = 0; c < 6; ++c) {
            const double x = c < 3 ? f.e[c][at] : f.b[c - 3][at];
            expected[std::size_t(c)] += 0.5 * m.volume() * x * x;
          }
        }
    for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(energies[c], expected[c], 1e-12 * expected[c]);
  }
}

TEST(field_kernels, differences_of_linear_fields_are_their_slope) {
  for_all_stencils([](const plan& p) {
    const patch_grid m(p, {});
    for (int d = 0; d < p.dimensions; ++d) {
      std::vector<double> f(m.size());
      reference::for_each_cell(m, [&](const point& i) {
        double sum = 0.4;
        for (int t = 0; t < p.dimensions; ++t) sum += (t + 1.5) * i[t] * p.spacing(t);
        f[std::size_t(m.index(i))] = sum;
      });
      EXPECT_NEAR(difference(m, d, f.data() + m.index({2, p.dimensions > 1 ? 2 : 0, p.dimensions > 2 ? 3 : 0})),
                  d + 1.5, 1e-12);
    }
    for (int d = p.dimensions; d < 3; ++d) EXPECT_EQ(difference(m, d, std::vector<double>(m.size(), 1).data()), 0);
  });
}

TEST(stencil_weights, of_yee_have_one_term_and_of_one_dimension_too) {
  for (const stencil curl : {stencil::yee, stencil::cowan}) {
    plan p = periodic(curl == stencil::yee ? 3 : 1, 1);
    p.curl = curl;
    const auto w = difference_weights(p);
    for (int d = 0; d < p.dimensions; ++d) {
      EXPECT_DOUBLE_EQ(w[std::size_t(d)].alpha, 1 / p.spacing(d));
      EXPECT_EQ(w[std::size_t(d)].gamma, 0);
      for (const double beta : w[std::size_t(d)].beta) EXPECT_EQ(beta, 0);
    }
  }
}

// With cubic cells: beta = 1/8 (1 - 1/3), gamma = 1/16 - 1/24 of Cowan et al. (2013).
TEST(stencil_weights, of_cubic_cells_are_those_of_cowan) {
  plan p = periodic(3, 1, 8, 1);
  p.curl = stencil::cowan;
  const auto w = difference_weights(p);
  for (std::size_t d = 0; d < 3; ++d) {
    EXPECT_NEAR(w[d].beta[(d + 1) % 3] * p.spacing(0), 1.0 / 12, 1e-14);
    EXPECT_NEAR(w[d].gamma * p.spacing(0), 1.0 / 48, 1e-14);
    EXPECT_NEAR(w[d].alpha * p.spacing(0), 1 - 4.0 / 12 - 4.0 / 48, 1e-14);
  }
}

// Absorbing layers ---------------------------------------------------------------------------------------------------

plan with_layer(int dimensions, int layer) {
  plan p = periodic(dimensions, 1, 12, 1);
  p = between(p, 0, field_boundary::absorbing, particle_boundary::absorbed, particle_boundary::absorbed);
  p.layer = layer;
  return p;
}

// psi <- b psi + c dB/dx, E += dt (psi + (1/kappa - 1) dB/dx), with the profiles of absorbing.hpp.
TEST(absorbing_layers, correct_e_by_the_convolution_of_roden_and_gedney) {
  const plan p = with_layer(2, 4);
  const patch_grid m(p, {});
  absorbing_layers<double> layers(p, m);
  fields<double> f(m);
  fill_all(f);
  std::vector<double> psi_y(m.size()), psi_z(m.size());
  const double h = p.spacing(0);
  for (int step = 0; step < 5; ++step) {
    const fields<double> before = f;
    layers.correct_e(m, f);
    for (int j = 0; j < m.cells[1]; ++j)
      for (int i = 0; i < m.cells[0]; ++i) {
        const auto at = std::size_t(m.index({i, j, 0}));
        const double s = std::max({0.0, (4.0 - i) / 4, (i - (p.cells[0] - 4.0)) / 4});
        const double sigma = 3.2 * s * s * s / h, kappa = 1 + s * s * s / 2, alpha = 0.05 * (1 - s) / h;
        const double b = std::exp(-(sigma / kappa + alpha) * p.dt);
        const double c = sigma > 0 ? (b - 1) * sigma / (kappa * (sigma + kappa * alpha)) : 0;
        const bool in_layer = i < 4 || i >= p.cells[0] - 4;
        const double by = backward(p, m, before.b[1], {i, j, 0}, 0), bz = backward(p, m, before.b[2], {i, j, 0}, 0);
        psi_y[at] = b * psi_y[at] + c * bz, psi_z[at] = b * psi_z[at] + c * by;
        const double ey = in_layer ? -p.dt * (psi_y[at] + (1 / kappa - 1) * bz) : 0;
        const double ez = in_layer ? p.dt * (psi_z[at] + (1 / kappa - 1) * by) : 0;
        EXPECT_EQ(f.e[0][at], before.e[0][at]);
        EXPECT_NEAR(f.e[1][at], before.e[1][at] + ey, 1e-13) << step << " " << i;
        EXPECT_NEAR(f.e[2][at], before.e[2][at] + ez, 1e-13) << step << " " << i;
      }
  }
}

TEST(absorbing_layers, do_not_change_fields_between_the_layers) {
  const plan p = with_layer(1, 3);
  const patch_grid m(p, {});
  absorbing_layers<float> layers(p, m);
  fields<float> f(m);
  fill_all(f);
  const fields<float> before = f;
  layers.update_psi_b(m, f), layers.correct_b(m, f), layers.correct_e(m, f);
  for (int i = -m.guard[0]; i < m.cells[0] + m.guard[0]; ++i) {
    const auto at = std::size_t(m.index({i, 0, 0}));
    const bool between_layers = i >= 3 && i < m.cells[0] - 3;
    EXPECT_EQ(f.b[1][at] == before.b[1][at], between_layers || i < 0 || i >= m.cells[0]) << i;
    EXPECT_EQ(f.e[1][at] == before.e[1][at], between_layers || i < 0 || i >= m.cells[0] || i == m.cells[0] - 3) << i;
    EXPECT_EQ(f.b[0][at], before.b[0][at]);
  }
}

// A shift by a cell and the same fields shifted give the same as no shift.
TEST(absorbing_layers, shift_with_a_window) {
  const plan p = with_layer(2, 5);
  const patch_grid m(p, {});
  absorbing_layers<double> still(p, m);
  fields<double> f(m);
  fill_all(f);
  still.correct_e(m, f), still.correct_e(m, f);
  absorbing_layers<double> moved = still;
  moved.shift_window(m);
  fields<double> zero(m), of_still(m), of_moved(m);  // without fields: E is what psi gives
  still.correct_e(m, of_still), moved.correct_e(m, of_moved);
  // The same psi one plane lower decays with the coefficients there.
  const auto decay = [&](int i) {
    const double s = std::max({0.0, (5.0 - i) / 5, (i - (p.cells[0] - 5.0)) / 5}), h = p.spacing(0);
    return std::exp(-(3.2 * s * s * s / h / (1 + s * s * s / 2) + 0.05 * (1 - s) / h) * p.dt);
  };
  for (int i = 0; i < 4; ++i) {
    const auto at = std::size_t(m.index({i, 3, 0})), next = std::size_t(m.index({i + 1, 3, 0}));
    EXPECT_NE(of_moved.e[1][at], 0);
    EXPECT_NEAR(of_moved.e[1][at] / decay(i), of_still.e[1][next] / decay(i + 1), 1e-12);
  }
  EXPECT_EQ(of_moved.e[1][std::size_t(m.index({4, 3, 0}))], 0);  // the plane that enters
}

// Conductors ---------------------------------------------------------------------------------------------------------

/// Adds a conductor of all nodes where inside(node).
template <class Inside>
void add_conductor(plan& p, double potential, Inside inside) {
  conductor c{.nodes = {}, .potential = potential};
  point at{};
  for (at[2] = 0; at[2] < p.nodes(2); ++at[2])
    for (at[1] = 0; at[1] < p.nodes(1); ++at[1])
      for (at[0] = 0; at[0] < p.nodes(0); ++at[0])
        if (inside(at)) c.nodes.push_back(number_of_node(p, at));
  p.conductors.push_back(c);
}

TEST(conductors, have_a_surface_of_edges_to_nodes_outside) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    plan p = periodic(dimensions, 1, 10, 1);
    add_conductor(p, 0.5, [&](const point& at) {
      bool inside = true;
      for (int d = 0; d < dimensions; ++d) inside = inside && at[d] >= 3 && at[d] <= 6;
      return inside;
    });
    const auto surface = surface_edges(p);
    EXPECT_EQ(surface.size(), std::size_t(2 * dimensions * std::pow(4, dimensions - 1))) << dimensions;
    EXPECT_TRUE(std::ranges::is_sorted(surface, {}, &cut_edge::key));
    for (const surface_edge& e : surface) EXPECT_TRUE(e.conductor == 0 && e.part == 1);
  }
}

TEST(conductors, that_overlap_are_the_last_one) {
  plan p = periodic(1, 1, 10, 1);
  add_conductor(p, 1, [](const point& at) { return at[0] >= 2 && at[0] <= 5; });
  add_conductor(p, 2, [](const point& at) { return at[0] >= 5 && at[0] <= 7; });
  const auto surface = surface_edges(p);
  ASSERT_EQ(surface.size(), 2u);
  EXPECT_TRUE(surface[0].node == 1 && surface[0].direction == 1 && surface[0].conductor == 0);
  EXPECT_TRUE(surface[1].node == 8 && surface[1].direction == 0 && surface[1].conductor == 1);
}

TEST(conductors, have_no_surface_on_a_side_of_the_box) {
  plan p = between(periodic(2, 1, 10, 1), 0, field_boundary::conducting, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  add_conductor(p, 1, [](const point& at) { return at[0] <= 2 && at[1] >= 3 && at[1] <= 5; });
  const auto surface = surface_edges(p);
  EXPECT_EQ(surface.size(), 7u);  // three along x, and two each along y from the nodes at x = 1, 2
  for (const surface_edge& e : surface) EXPECT_NE(e.node % p.nodes(0), 0);
}

TEST(conductors, continue_around_periodic_sides) {
  plan p = periodic(1, 1, 10, 2);
  add_conductor(p, 0, [](const point& at) { return at[0] <= 1 || at[0] >= 8; });
  EXPECT_EQ(surface_edges(p).size(), 2u);
  const patch_grid left(p, {0, 0, 0});
  const solid_mask mask(p, left);
  EXPECT_TRUE(mask.cells[std::size_t(left.index({-1, 0, 0}))]);  // between the nodes 9 and 0
  EXPECT_TRUE(mask.cells[std::size_t(left.index({0, 0, 0}))]);
  EXPECT_FALSE(mask.cells[std::size_t(left.index({1, 0, 0}))]);
}

TEST(conductors, have_solid_cells_where_all_corners_are_nodes) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    plan p = periodic(dimensions, 1, 10, 2);
    const auto inside = [&](const point& at) {
      double r2 = 0;
      for (int d = 0; d < dimensions; ++d) r2 += (at[d] - 5) * (at[d] - 5);
      return r2 < 7;
    };
    add_conductor(p, 0, inside);
    for (int n = 0; n < 1 << dimensions; ++n) {
      const patch_grid m(p, point_of(patch_of(p, n)));
      const solid_mask mask(p, m);
      const region r = own_cells(m);
      for (int k = r.low[2]; k < r.high[2]; ++k)
        for (int j = r.low[1]; j < r.high[1]; ++j)
          for (int i = r.low[0]; i < r.high[0]; ++i) {
            bool full = true;
            for (int corner = 0; corner < 1 << dimensions; ++corner) {
              point node{m.first[0] + i, m.first[1] + j, m.first[2] + k};
              for (int d = 0; d < dimensions; ++d) node[d] += corner >> d & 1;
              full = full && inside(node);
            }
            EXPECT_EQ(bool(mask.cells[std::size_t(m.index({i, j, k}))]), full) << dimensions;
          }
    }
  }
}

TEST(conductors, shield_edges_between_their_nodes_only) {
  plan p = periodic(2, 1, 10, 1);
  add_conductor(p, 0, [](const point& at) { return at[0] >= 3 && at[0] <= 5 && at[1] == 4; });
  const patch_grid m(p, {});
  fields<float> f(m);
  fill_all(f);
  const fields<float> before = f;
  shield(m, solid_mask(p, m), f);
  for (int j = 0; j < m.cells[1]; ++j)
    for (int i = 0; i < m.cells[0]; ++i) {
      const auto at = std::size_t(m.index({i, j, 0}));
      const bool node = i >= 3 && i <= 5 && j == 4;
      EXPECT_EQ(f.e[0][at], i >= 3 && i < 5 && j == 4 ? 0 : before.e[0][at]);
      EXPECT_EQ(f.e[1][at], before.e[1][at]);             // one node wide in y
      EXPECT_EQ(f.e[2][at], node ? 0 : before.e[2][at]);  // nothing changes along z
    }
  EXPECT_EQ(f.b, before.b);
}

TEST(conductors, without_any_change_nothing) {
  const plan p = periodic(2, 1);
  const patch_grid m(p, {});
  const solid_mask mask(p, m);
  EXPECT_TRUE(mask.nodes.empty() && mask.cells.empty() && surface_edges(p).empty());
  fields<double> f(m);
  fill_all(f);
  const fields<double> before = f;
  shield(m, mask, f);
  EXPECT_EQ(f.e, before.e);
}

}  // namespace
}  // namespace plaq::pic
