// Step of a particle: gather of E and B, momentum, path and current, in one pass over a register of particles of a
// cell. The current of particles that stay in the cell (nearly all) is summed in registers and stored once per cell.
// Those that leave it are collected and deposited one at a time, vectorised over nodes.
#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>

#include "plaq/base/error.hpp"
#include "plaq/pic/particles/cell_runs.hpp"
#include "plaq/pic/particles/current_deposition.hpp"
#include "plaq/pic/particles/gather.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/particles/mode_deposition.hpp"
#include "plaq/pic/particles/pushers.hpp"
#include "plaq/pic/particles/rings.hpp"
#include "plaq/pic/particles/tables.hpp"

namespace plaq::pic {

namespace {

/// Buffer of particles that leave their cell, with room for a register more until it is full.
template <int D, class V>
struct crossing_particles {
  using T = number_of<V>;
  static constexpr int capacity = 8 * lanes<V>;
  alignas(64) T start[D][capacity], displacement[3][capacity], charge[capacity];
  std::size_t number[capacity];
  int count = 0;

  bool full() const { return count > capacity - lanes<V>; }
  PLAQ_KERNEL void add(std::size_t first, const V (&x)[D], const V (&step)[3], V q, lane_mask mask) {
    for (int d = 0; d < D; ++d) store_packed(start[d] + count, x[d], mask);
    for (int c = 0; c < 3; ++c) store_packed(displacement[c] + count, step[c], mask);
    store_packed(charge + count, q, mask);
    for (; mask; mask &= mask - 1) number[count++] = first + std::size_t(std::countr_zero(mask));
  }
};

/// Buffer of particles of a cylinder that leave their cell, with the turn of each about the axis.
template <class V>
struct turning_particles : crossing_particles<2, V> {
  using base = crossing_particles<2, V>;
  using T = number_of<V>;
  alignas(64) T cosine[base::capacity], sine[base::capacity];

  PLAQ_KERNEL void add_turn(const turn<V>& by, lane_mask mask) {
    store_packed(cosine + base::count, by.cosine, mask);
    store_packed(sine + base::count, by.sine, mask);
  }
};

/// Adds E and B of the modes at the particles of the mask from the i-th on, if there are any.
template <int Order, class V, class T>
PLAQ_KERNEL void add_modes_at(const patch_grid& m, const fields<T>& f, const particles<T>& p, std::ptrdiff_t at,
                              const point_weights<2, Order, V>& s, std::size_t i, lane_mask mask, V (&e)[3],
                              V (&b)[3]) {
  if (f.modes.empty()) return;
  add_modes(m, f, at, s, load_masked<V>(p.azimuth[0].data() + i, mask), load_masked<V>(p.azimuth[1].data() + i, mask),
            e, b);
}

/// Turns the azimuth of particle i, and deposits the currents of modes of its path.
template <int Order, bool Current, class T>
void turn_azimuth(const patch_grid& m, fields<T>& f, particles<T>& p, std::ptrdiff_t at, int ring, std::size_t i,
                  ring_path<T> path, T cosine, T sine, T charge) {
  path.before = {p.azimuth[0][i], p.azimuth[1][i]};
  path.after = turned(path.before, cosine, sine);
  p.azimuth[0][i] = path.after.real(), p.azimuth[1][i] = path.after.imag();
  if constexpr (Current) add_mode_currents<Order>(m, f, at, ring, path, charge);
}

/// Deposits the paths that lead to the next cell; lists the particles that leave the patch or are to be followed. In a
/// cylinder the latter get back their momentum before the turn.
template <int D, int Order, bool Current, bool Rings, class Buffer, class T>
void deposit_crossing(const patch_grid& m, const motion& by, fields<T>& f, particles<T>& p, const point& cell,
                      std::ptrdiff_t at, Buffer& buffer, crossing& crossed) {
  bool at_border = false;
  for (int d = 0; d < D; ++d) at_border |= cell[d] <= 0 || cell[d] >= m.cells[d] - 1;
  path_current<D, Order, T, Rings> sum(m.first[1] + cell[1]);
  for (int n = 0; n < buffer.count; ++n) {
    const auto i = buffer.number[n];
    T start[D], displacement[3];
    point to = cell;
    for (int c = 0; c < 3; ++c) displacement[c] = buffer.displacement[c][n];
    bool near = true, finite = true, leaves = false, crosses = false;
    for (int d = 0; d < D; ++d) {
      start[d] = buffer.start[d][n];
      near &= std::abs(displacement[d]) < 1, finite &= std::isfinite(displacement[d]);
      to[d] += start[d] + displacement[d] >= 1 ? 1 : start[d] + displacement[d] < 0 ? -1 : 0;
    }
    if (!near && !(by.long_paths && finite)) [[unlikely]]
      throw runtime_failure("a particle moves by more than a cell in a step: its momentum or a field is not finite");
    if (near && at_border)
      for (int d = 0; d < D; ++d) {
        const bool below = to[d] < 0, above = to[d] >= m.cells[d];
        leaves |= below || above;
        crosses |= (below && by.walls[std::size_t(d)][0]) || (above && by.walls[std::size_t(d)][1]);
      }
    if (crosses || !near) {
      crossed.to_follow.push_back(std::uint32_t(i));
      if constexpr (Rings)
        turn<T>{.change = 0, .cosine = buffer.cosine[n], .sine = buffer.sine[n]}.undo(p.u[1][i], p.u[2][i]);
      for (int d = 0; d < D; ++d) p.x[std::size_t(d)][i] = start[d];
      continue;
    }
    if (leaves) crossed.leaving.push_back(std::uint32_t(i));
    for (int d = 0; d < D; ++d) p.cell[std::size_t(d)][i] = to[d];
    if constexpr (Current) sum.add(m, start, displacement, buffer.charge[n]);
    if constexpr (Rings)
      if (!f.modes.empty())
        turn_azimuth<Order, Current>(m, f, p, at, m.first[1] + cell[1], i,
                                     {{start[0], start[1]}, {displacement[0], displacement[1]}, {}, {}},
                                     buffer.cosine[n], buffer.sine[n], buffer.charge[n]);
  }
  if constexpr (Current) sum.add_to(m, f, at);
  buffer.count = 0;
}

/// Sets the cells of the particles of the mask, in a cell from the i-th on, where they move by less than a cell;
/// returns the mask of the others.
template <int D, class V, class T>
PLAQ_KERNEL lane_mask enter_next_cells(particles<T>& p, std::size_t i, lane_mask mask, const point& cell,
                                       const V (&displacement)[3], const V (&to)[D]) {
  using C = linalg::simd<std::int32_t, lanes<V>>;
  auto near = to[0] == to[0];
  for (int d = 0; d < D; ++d) near &= (displacement[d] < unit<V>()) & (displacement[d] > -unit<V>());
  for (int d = 0; d < D; ++d) {
    const auto below = near & (to[d] < V{}), above = near & (to[d] >= unit<V>());  // -1 where they hold
    store_masked(p.cell[std::size_t(d)].data() + i,
                 cell[d] + __builtin_convertvector(below, C) - __builtin_convertvector(above, C), mask);
  }
  return mask & ~mask_of(near);
}

/// Advances all particles. Those of a cylinder, as points of a plane of z and r, move on a straight line in space and
/// turn back into the plane; its current is that of the line in the plane.
template <int D, int Order, bool Current, bool Rings, class T>
particle_sums advance_all(const patch_grid& m, const motion& by, fields<T>& f, particles<T>& p, crossing& crossed) {
  using V = linalg::simd<T, linalg::native_lanes<T>>;
  const T h = T(0.5 * by.charge_per_mass * m.dt), density = T(by.charge / m.volume());
  T per_cell[3], flow[3];
  for (int c = 0; c < 3; ++c) {
    per_cell[c] = T(c < D ? m.dt / m.spacing[std::size_t(c)] : Rings ? m.dt / m.spacing[1] : m.dt);
    flow[c] = T(c < D ? m.spacing[std::size_t(c)] / m.dt : 1 / m.dt);
  }
  double_sum<V> weight, kinetic, momentum[3];
  std::conditional_t<Rings, turning_particles<V>, crossing_particles<D, V>> buffer;
  for_each_cell_run<D>(m, p, [&](const point& cell, std::ptrdiff_t at, auto for_each_register) {
    const int ring = m.first[1] + cell[1];
    [[maybe_unused]] bool inner = true;  // all neighbours are cells of the patch
    for (int d = 0; d < D; ++d) inner &= cell[d] > 0 && cell[d] < m.cells[d] - 1;
    cell_current<D, Order, V, Rings> current(ring);
    for_each_register([&](std::size_t i, lane_mask mask) PLAQ_INLINE {
      V x[D], u[3], e[3], b[3];
      for (int d = 0; d < D; ++d) x[d] = load_masked<V>(p.x[std::size_t(d)].data() + i, mask);
      for (int c = 0; c < 3; ++c) u[c] = load_masked<V>(p.u[std::size_t(c)].data() + i, mask);
      const V w = load_masked<V>(p.w.data() + i, mask);
      point_weights<D, Order, V> s(x);
      gather_fields(m, f, at, s, by, e, b);
      if constexpr (Rings) add_modes_at(m, f, p, at, s, i, mask, e, b);
      accelerate(by.scheme, by.magnetic, h, e, b, u);

      const V u2 = squared(u), gamma = square_root(unit<V>() + u2), inverse = T(1) / gamma;
      weight.add(w);
      kinetic.add(w * u2 / (unit<V>() + gamma));  // gamma - 1 = u^2 / (gamma + 1)
      for (int c = 0; c < 3; ++c) momentum[c].add(w * u[c]);

      V displacement[3], to[D], q[3];
      for (int c = 0; c < 3; ++c) displacement[c] = linalg::mul(u[c] * inverse, linalg::same<V>(per_cell[c]));
      [[maybe_unused]] turn<V> about_axis;
      if constexpr (Rings) {
        const V r = linalg::same<V>(T(ring)) + x[1];
        about_axis = turn_of<V>(r, displacement[1], displacement[2]);
        about_axis.apply(u[1], u[2]);
        displacement[1] = about_axis.change;
        if (ring == 0)
          displacement[1] = displacement[1] < -x[1] ? -x[1] : displacement[1];  // rounding ends on the axis
        displacement[2] = T(m.spacing[1]) * (r + T(0.5) * displacement[1]) * about_axis.sine;
      }
      for (int c = 0; c < (Rings || by.transverse ? 3 : D); ++c)
        store_masked(p.u[std::size_t(c)].data() + i, u[c], mask);
      auto stays = x[0] == x[0];
      for (int d = 0; d < D; ++d) {
        to[d] = x[d] + displacement[d];
        const auto below = to[d] < V{}, above = to[d] >= unit<V>();
        stays &= (to[d] >= V{}) & (to[d] < unit<V>());
        store_masked(p.x[std::size_t(d)].data() + i, to[d] + (below ? unit<V>() : V{}) - (above ? unit<V>() : V{}),
                     mask);
      }
      lane_mask leaves = mask & ~mask_of(stays);
      const V charge = density * w;
      if constexpr (Current) {
        const V kept = keep_lanes(charge, ~leaves);
        for (int c = 0; c < 3; ++c) q[c] = c < D ? kept * flow[c] : kept * (displacement[c] * flow[c]);
        if constexpr (Rings) correct_for_rings(current.correction, x[1], s.node[1], -shape<Order>::first_node);
        current.add(s.node, to, q);
      }
      if constexpr (Rings)
        if (!f.modes.empty()) {
          alignas(64) T of[7][lanes<V>];
          const V all[7] = {x[0], x[1], displacement[0], displacement[1], about_axis.cosine, about_axis.sine, charge};
          for (int c = 0; c < 7; ++c) linalg::store(of[c], all[c]);
          for (lane_mask rest = mask & ~leaves; rest; rest &= rest - 1) {
            const int l = std::countr_zero(rest);
            turn_azimuth<Order, Current>(m, f, p, at, ring, i + std::size_t(l),
                                         {{of[0][l], of[1][l]}, {of[2][l], of[3][l]}, {}, {}}, of[4][l], of[5][l],
                                         of[6][l]);
          }
        }
      if constexpr (!Current && !Rings)
        if (leaves && inner) leaves = enter_next_cells(p, i, mask, cell, displacement, to);
      if (leaves) {
        if constexpr (Rings) buffer.add_turn(about_axis, leaves);
        buffer.add(i, x, displacement, charge, leaves);
        if (buffer.full()) deposit_crossing<D, Order, Current, Rings>(m, by, f, p, cell, at, buffer, crossed);
      }
    });
    if constexpr (Current) current.add_to(m, f, at);
    if (buffer.count > 0) deposit_crossing<D, Order, Current, Rings>(m, by, f, p, cell, at, buffer, crossed);
  });
  return {.weight = weight.all(),
          .kinetic = kinetic.all(),
          .momentum = {momentum[0].all(), momentum[1].all(), momentum[2].all()}};
}

template <int D, int Order, class T>
particle_sums advance_kernel(const patch_grid& m, const motion& by, fields<T>& f, particles<T>& p, crossing& crossed) {
  if constexpr (D == 2)
    if (m.cylinder)
      return by.current ? advance_all<D, Order, true, true>(m, by, f, p, crossed)
                        : advance_all<D, Order, false, true>(m, by, f, p, crossed);
  return by.current ? advance_all<D, Order, true, false>(m, by, f, p, crossed)
                    : advance_all<D, Order, false, false>(m, by, f, p, crossed);
}

template <int D, int Order, class T>
void kick_kernel(const patch_grid& m, const motion& by, const fields<T>& f, particles<T>& p, double dt) {
  using V = linalg::simd<T, linalg::native_lanes<T>>;
  const T h = T(0.5 * by.charge_per_mass * dt);
  for_each_cell_run<D>(m, p, [&](const point&, std::ptrdiff_t at, auto for_each_register) {
    for_each_register([&](std::size_t i, lane_mask mask) PLAQ_INLINE {
      V x[D], u[3], e[3], b[3];
      for (int d = 0; d < D; ++d) x[d] = load_masked<V>(p.x[std::size_t(d)].data() + i, mask);
      for (int c = 0; c < 3; ++c) u[c] = load_masked<V>(p.u[std::size_t(c)].data() + i, mask);
      const point_weights<D, Order, V> s(x);
      gather_fields(m, f, at, s, by, e, b);
      if constexpr (D == 2) add_modes_at(m, f, p, at, s, i, mask, e, b);
      accelerate(by.scheme, by.magnetic, h, e, b, u);
      for (int c = 0; c < 3; ++c) store_masked(p.u[std::size_t(c)].data() + i, u[c], mask);
    });
  });
}

template <int D, int Order, class T>
void electric_field_kernel(const patch_grid& m, bool at_nodes, const fields<T>& f, const particles<T>& p, T* out) {
  using V = linalg::simd<T, linalg::native_lanes<T>>;
  const motion by{.at_nodes = at_nodes, .magnetic = false};
  for_each_cell_run<D>(m, p, [&](const point&, std::ptrdiff_t at, auto for_each_register) {
    for_each_register([&](std::size_t i, lane_mask mask) PLAQ_INLINE {
      V x[D], e[3], b[3];
      for (int d = 0; d < D; ++d) x[d] = load_masked<V>(p.x[std::size_t(d)].data() + i, mask);
      gather_fields(m, f, at, point_weights<D, Order, V>(x), by, e, b);
      store_masked(out + i, square_root(squared(e)), mask);
    });
  });
}

}  // namespace

template <class T>
std::vector<double> electric_field_at(const patch_grid& m, int order, bool at_nodes, const fields<T>& f,
                                      const particles<T>& p) {
  static constexpr void (*all[3][3])(const patch_grid&, bool, const fields<T>&, const particles<T>&, T*) =
      PLAQ_PIC_TABLE(electric_field_kernel);
  std::vector<T> out(p.size());
  all[m.dimensions - 1][order - 1](m, at_nodes, f, p, out.data());
  return {out.begin(), out.end()};
}

template <class T>
particle_sums advance(const patch_grid& m, int order, const motion& by, fields<T>& f, particles<T>& p,
                      crossing& crossed) {
  static constexpr particle_sums (*all[3][3])(const patch_grid&, const motion&, fields<T>&, particles<T>&, crossing&) =
      PLAQ_PIC_TABLE(advance_kernel);
  return all[m.dimensions - 1][order - 1](m, by, f, p, crossed);
}

template <class T>
void kick(const patch_grid& m, int order, const motion& by, const fields<T>& f, particles<T>& p, double dt) {
  static constexpr void (*all[3][3])(const patch_grid&, const motion&, const fields<T>&, particles<T>&, double) =
      PLAQ_PIC_TABLE(kick_kernel);
  all[m.dimensions - 1][order - 1](m, by, f, p, dt);
}

template particle_sums advance(const patch_grid&, int, const motion&, fields<float>&, particles<float>&, crossing&);
template particle_sums advance(const patch_grid&, int, const motion&, fields<double>&, particles<double>&, crossing&);
template std::vector<double> electric_field_at(const patch_grid&, int, bool, const fields<float>&,
                                               const particles<float>&);
template std::vector<double> electric_field_at(const patch_grid&, int, bool, const fields<double>&,
                                               const particles<double>&);
template void kick(const patch_grid&, int, const motion&, const fields<float>&, particles<float>&, double);
template void kick(const patch_grid&, int, const motion&, const fields<double>&, particles<double>&, double);

}  // namespace plaq::pic
