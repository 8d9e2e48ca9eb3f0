// The current of a path that ends on a conductor is that of a charge which is cancelled by its image there: the
// residual of Gauss's law does not change, and a particle that leaves takes no field with it.
#include "plaq/pic/processes/particle_boundaries.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "plaq/pic/mesh/streams.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/particles/rings.hpp"
#include "plaq/pic/processes/energy.hpp"
#include "plaq/pic/processes/secondary.hpp"

namespace plaq::pic {

namespace {

constexpr int max_wall_hits = 100;  ///< without a new cell, as in a corner; the particle then stays for this step

/// Next face of its cell on a particle's path: the fraction of the path before it, at least 1 where the path ends
/// first.
struct face {
  double fraction = 1;
  int d = 0, side = 0;
};
face next_plane(int dimensions, const std::array<double, 3>& x, const std::array<double, 3>& displacement) {
  face out;
  for (int d = 0; d < dimensions; ++d) {
    if (displacement[d] == 0) continue;
    const int side = displacement[d] > 0;
    const double fraction = std::fmax((side - x[d]) / displacement[d], 0);
    if (fraction < out.fraction) out = {fraction, d, side};
  }
  return out;
}

/// Fraction of a path from r that is before the radius `to`, which lies outwards (side 1) or inwards; 2 where the path
/// does not reach it: |(r + along s, across s)| = to.
double fraction_to_radius(double r, double along, double across, double to, int side) {
  const double a = along * along + across * across, b = r * along, c = (r - to) * (r + to);
  if (a == 0 || (side == 0 && b >= 0)) return 2;
  const double squared = b * b - a * c;
  if (squared < 0) return side ? 0 : 2;
  const double root = std::sqrt(squared);
  if (side) return std::fmax(b > 0 ? -c / (b + root) : (root - b) / a, 0);
  return std::fmax(c / (root - b), 0);
}
/// Next face of its cell in a cylinder, round in r; `first`: number of the patch's first cell from the axis.
face next_ring_face(int first, const point& cell, const std::array<double, 3>& x,
                    const std::array<double, 3>& displacement) {
  face out = next_plane(1, x, displacement);
  const double inner = first + cell[1];
  for (int side = inner > 0 ? 0 : 1; side < 2; ++side) {
    const double fraction = fraction_to_radius(inner + x[1], displacement[1], displacement[2], inner + side, side);
    if (fraction < out.fraction) out = {fraction, 1, side};
  }
  return out;
}

/// Follows the path that led into a dielectric back to the face where it entered. Where there is none, as of particles
/// that were in it at first, cell and x stay.
template <class T>
void go_back_to_surface(const patch<T>& self, point& cell, std::array<double, 3>& x,
                        const std::array<double, 3>& displacement) {
  const patch_grid& m = self.mesh;
  point at = cell;
  std::array<double, 3> y = x, back{};
  for (int d = 0; d < m.dimensions; ++d) back[d] = -displacement[d];
  for (;;) {
    const auto [fraction, d, side] = next_plane(m.dimensions, y, back);
    if (fraction >= 1) return;
    for (int t = 0; t < m.dimensions; ++t) y[t] += fraction * back[t], back[t] *= 1 - fraction;
    y[d] = side;
    point next = at;
    next[d] += side ? 1 : -1;
    if (next[d] < -m.guard[d] || next[d] >= m.cells[d] + m.guard[d]) return;
    if (!self.solids.cells[std::size_t(m.index(next))]) {
      cell = at, x = y;
      return;
    }
    at = next, y[d] = 1 - side;
  }
}

/// Adds a charge to plates and dielectrics at a place in a cell, by linear weights to its nodes.
template <class T>
void leave_charge(patch<T>& self, const point& cell, const std::array<double, 3>& x, double charge) {
  const patch_grid& m = self.mesh;
  for (int corner = 0; corner < 1 << m.dimensions; ++corner) {
    double share = charge / m.volume();
    point node = cell;
    for (int d = 0; d < m.dimensions; ++d) {
      const int up = corner >> d & 1;
      share *= up ? x[d] : 1 - x[d], node[d] += up;
    }
    if (share != 0) self.plate_charge[std::size_t(m.index(node))] += T(share);
  }
}

/// Counts a particle that a conductor or dielectric in the box has absorbed, at this place in a cell; its charge stays
/// there.
template <class T>
void record_absorbed(const plan& p, patch<T>& self, std::size_t s, double weight, const point& cell,
                     const std::array<double, 3>& x, double energy) {
  const int solid = self.solids.solid_at(self.mesh, std::size_t(self.mesh.index(cell)), x);
  const double charge = p.species_list[s].source() * weight;
  if (solid == solid_mask::dielectric)
    leave_charge(self, cell, x, charge);
  else
    self.arrived_charge[std::size_t(2 * p.dimensions + solid - 1)] += charge;
  double* row = self.row.data() + record::at(s, 0);
  row[record::absorbed] += 1, row[record::absorbed_weight] += weight, row[record::absorbed_energy] += energy;
  row[record::weight] -= weight;
}

/// Particle on its path through the rest of a step.
template <class T>
struct path_walker {
  const plan& p;
  patch<T>& self;
  const std::size_t s, i;
  double& remaining;
  point cell{};
  std::array<double, 3> x{}, u{}, displacement{};
  std::complex<double> azimuth = 1;

  path_walker(const plan& plan_, patch<T>& patch_, std::size_t species, std::size_t particle, double& part)
      : p(plan_), self(patch_), s(species), i(particle), remaining(part) {
    const particles<T>& all = self.species[s];
    for (int d = 0; d < self.mesh.dimensions; ++d) cell[d] = all.cell[d][i], x[d] = double(all.x[d][i]);
    for (int c = 0; c < 3; ++c) u[c] = double(all.u[c][i]);
    if (!self.f.modes.empty()) azimuth = {double(all.azimuth[0][i]), double(all.azimuth[1][i])};
  }

  /// Sets the displacement of the remaining part of the step from the momentum.
  void aim() {
    const patch_grid& m = self.mesh;
    const double g = std::sqrt(1 + u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int c = 0; c < 3; ++c)
      displacement[c] = u[c] / g * remaining * m.dt / (c < m.dimensions ? m.spacing[c] : m.cylinder ? m.spacing[1] : 1);
  }
  face next_face() const {
    const patch_grid& m = self.mesh;
    return m.cylinder ? next_ring_face(m.first[1], cell, x, displacement) : next_plane(m.dimensions, x, displacement);
  }
  /// Moves by a fraction of the displacement and deposits the current.
  void advance_by(double fraction) {
    const patch_grid& m = self.mesh;
    if (m.cylinder) return advance_in_cylinder(fraction);
    if (fraction > 0) deposit({displacement[0] * fraction, displacement[1] * fraction, displacement[2] * fraction});
    for (int d = 0; d < m.dimensions; ++d) x[d] += displacement[d] * fraction;
    for (int c = 0; c < 3; ++c) displacement[c] *= 1 - fraction;
    remaining *= 1 - fraction;
  }
  /// Deposits the current of a displacement.
  void deposit(const std::array<double, 3>& by, std::complex<double> before = 1, std::complex<double> after = 1) {
    if (!self.with_current) return;
    path<T> along{cell, {}, {}, {T(before.real()), T(before.imag())}, {T(after.real()), T(after.imag())}};
    for (int c = 0; c < 3; ++c) along.start[c] = T(x[c]), along.displacement[c] = T(by[c]);
    deposit_path(self.mesh, p.order, self.f, along, p.species_list[s].source() * double(self.species[s].w[i]));
  }
  /// Moves by a fraction of the displacement and turns back into the plane of z and r.
  void advance_in_cylinder(double fraction) {
    const double r = self.mesh.first[1] + cell[1] + x[1];
    const auto about_axis = turn_of<double>(r, displacement[1] * fraction, displacement[2] * fraction);
    const double to = std::fmin(std::fmax(x[1] + about_axis.change, 0), 1), change = to - x[1];
    const auto before = std::exchange(azimuth, turned(azimuth, about_axis.cosine, about_axis.sine));
    if (fraction > 0)
      deposit({displacement[0] * fraction, change, self.mesh.spacing[1] * (r + change / 2) * about_axis.sine}, before,
              azimuth);
    x[0] += displacement[0] * fraction;
    x[1] = to;
    for (double& part : displacement) part *= 1 - fraction;
    about_axis.apply(u[1], u[2]);
    about_axis.apply(displacement[1], displacement[2]);
    remaining *= 1 - fraction;
  }
  /// Stores the particle where it is.
  path_end stop(path_end end) {
    particles<T>& all = self.species[s];
    for (int c = 0; c < 3; ++c) all.u[c][i] = T(u[c]);
    for (int d = 0; d < self.mesh.dimensions; ++d) all.cell[d][i] = cell[d], all.x[d][i] = T(x[d]);
    if (!self.f.modes.empty()) all.azimuth[0][i] = T(azimuth.real()), all.azimuth[1][i] = T(azimuth.imag());
    return end;
  }
  /// Ends in a solid cell: the record counts the particle, and its charge goes to the nodes of the cell.
  void be_absorbed() {
    record_absorbed(p, self, s, double(self.species[s].w[i]), cell, x, energy());
    if (p.electrostatic || p.order == 1) return;
    path<T> at{cell, {}, {}, {T(azimuth.real()), T(azimuth.imag())}, {T(azimuth.real()), T(azimuth.imag())}};
    for (int d = 0; d < self.mesh.dimensions; ++d) at.start[d] = T(x[d]);
    deposit_contraction(self.mesh, p.order, self.f, at, p.species_list[s].source() * double(self.species[s].w[i]));
  }
  /// Kinetic energy times the weight.
  double energy() const { return double(self.species[s].w[i]) * kinetic_energy(u, p.species_list[s].mass); }
  bool in_solid_cell() const {
    return !self.solids.cells.empty() && self.solids.cells[std::size_t(self.mesh.index(cell))];
  }
};

}  // namespace

template <class T>
path_end apply_particle_boundaries(const plan& p, patch<T>& self, std::size_t s, std::size_t i, std::uint64_t number,
                                   double& remaining) {
  const patch_grid& m = self.mesh;
  const double weight = double(self.species[s].w[i]);
  path_walker<T> walker(p, self, s, i, remaining);
  std::uint64_t re_emissions = 0;  // by thermal walls
  walker.aim();
  for (int wall_hits = 0; wall_hits < max_wall_hits;) {
    const auto [fraction, d, side] = walker.next_face();
    walker.advance_by(fraction);
    if (fraction == 1) return walker.stop(path_end::completed);
    walker.x[d] = side;
    const int last = side ? m.cells[d] - 1 : 0;
    if (!self.walls[d][side] || walker.cell[d] != last) {  // a face between two cells
      walker.cell[d] += side ? 1 : -1, walker.x[d] = 1 - side, wall_hits = 0;
      if (walker.in_solid_cell()) {
        walker.be_absorbed();
        return path_end::removed;
      }
      if (p.electrostatic && (walker.cell[d] < 0 || walker.cell[d] >= m.cells[d]))
        return walker.stop(path_end::next_patch);
      continue;
    }
    ++wall_hits;
    double* row = self.row.data() + record::at(s, 0);
    switch (p.particle_boundaries[d][side]) {
      case particle_boundary::reflected: walker.u[d] = -walker.u[d]; break;
      case particle_boundary::thermal: {
        const auto stream = stream_of(p.seed, random_purpose::thermal_wall, std::uint32_t(s),
                                      std::uint64_t(self.number), std::uint64_t(self.step));
        row[record::left_energy] += walker.energy();
        walker.u = wall_momentum(std::sqrt(p.wall_temperature / p.species_list[s].mass),
                                 random_words(stream, number << 32 | re_emissions++), d, side);
        row[record::left_energy] -= walker.energy();
        break;
      }
      default:
        row[record::left + 2 * std::size_t(d) + std::size_t(side)] += 1;
        row[record::left_weight + 2 * std::size_t(d) + std::size_t(side)] += weight;
        row[record::left_energy] += walker.energy();
        self.arrived_charge[2 * std::size_t(d) + std::size_t(side)] += p.species_list[s].source() * weight;
        emit_secondaries(p, self, {s, d, side, walker.cell, walker.x, walker.u, weight, number});
        return path_end::removed;
    }
    walker.aim();
  }
  return walker.stop(path_end::completed);
}

template <class T>
std::vector<std::uint32_t> absorb_in_conductors(const plan& p, patch<T>& self, std::size_t s,
                                                std::span<const std::uint32_t> but) {
  std::vector<std::uint32_t> out;
  if (self.solids.cells.empty()) return out;
  const patch_grid& m = self.mesh;
  const auto& all = self.species[s];
  for (std::size_t i = 0; i < all.size(); ++i) {
    point cell{};
    for (int d = 0; d < m.dimensions; ++d) cell[d] = all.cell[d][i];
    std::array<double, 3> x{};
    for (int d = 0; d < m.dimensions; ++d) x[std::size_t(d)] = double(all.x[d][i]);
    const int solid = self.solids.solid_at(m, std::size_t(m.index(cell)), x);
    if (!solid || std::ranges::binary_search(but, i)) continue;
    double remaining = 1;
    path_walker<T> walker(p, self, s, i, remaining);
    walker.aim();
    if (solid == solid_mask::dielectric) go_back_to_surface(self, walker.cell, walker.x, walker.displacement);
    walker.be_absorbed();
    out.push_back(std::uint32_t(i));
  }
  return out;
}

#define PLAQ_PIC_FOR(T)                                                                                        \
  template path_end apply_particle_boundaries(const plan&, patch<T>&, std::size_t, std::size_t, std::uint64_t, \
                                              double&);                                                        \
  template std::vector<std::uint32_t> absorb_in_conductors(const plan&, patch<T>&, std::size_t,                \
                                                           std::span<const std::uint32_t>);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic
