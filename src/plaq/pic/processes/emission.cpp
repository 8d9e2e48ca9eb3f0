#include "plaq/pic/processes/emission.hpp"

#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/streams.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/particles/rings.hpp"
#include "plaq/pic/processes/emission_laws.hpp"
#include "plaq/pic/processes/energy.hpp"

namespace plaq::pic {

namespace {

using vector = std::array<double, 3>;

/// Returns the point of a tile at two numbers in [0, 1]: of a face of the patch, or of a part of a plate. In a cylinder
/// uniform numbers are uniform per area.
template <class T>
vector point_of_tile(const plan& p, const patch<T>& self, const emitter& e, const tile& t, std::array<double, 2> at) {
  if (p.cylinder && !e.follows_field())
    at[0] = along_ring(point_on_plate(p, e, t, 0, 0)[1], point_on_plate(p, e, t, 1, 0)[1], at[0]);
  else if (p.cylinder && side_of(p, e).d == 0)
    at[0] = along_ring(self.mesh.radius(t.at[0]), self.mesh.radius(t.at[0] + 1), at[0]);
  vector x = point_on_plate(p, e, t, at[0], at[1]);
  if (!e.follows_field()) return x;
  const auto along = dimensions_along(side_of(p, e).d);
  for (std::size_t k = 0; k < 2; ++k) {
    const int d = along[k];
    x[std::size_t(d)] = (self.mesh.first[d] + t.at[k] + at[k]) * self.mesh.spacing[d];
  }
  return x;
}

/// Returns the charge in the half cell before a side, by face.
template <class T>
std::vector<double> charge_near_side(const plan& p, const patch<T>& self, const box_side& at) {
  const patch_grid& m = self.mesh;
  const auto [a, b] = dimensions_along(at.d);
  std::vector<double> out(std::size_t(m.cells[a] * m.cells[b]));
  const int last = at.side ? m.cells[at.d] - 1 : 0;
  for (std::size_t s = 0; s < p.species_list.size(); ++s) {
    const auto& all = self.species[s];
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all.cell[at.d][i] != last) continue;
      const double x = double(all.x[at.d][i]);
      const int u = a < p.dimensions ? all.cell[a][i] : 0, v = b < p.dimensions ? all.cell[b][i] : 0;
      double share = at.side ? x : 1 - x;
      if (p.cylinder && at.d == 1) share += ring_correction(1, m.first[1] + last) * x * (1 - x);
      out[std::size_t(u + m.cells[a] * v)] += p.species_list[s].source() * double(all.w[i]) * share;
    }
  }
  return out;
}

/// Returns the charge per area of the conductor behind a face, which is the field at it, into the box. E at its first
/// half cell, as the mean of the nodes around the face, is that of this charge and of `charge_before` it.
template <class T>
double surface_field(const plan& p, const patch<T>& self, const emitter& e, const tile& t, double charge_before) {
  const patch_grid& m = self.mesh;
  const auto [d, side] = side_of(p, e);
  const auto [a, b] = dimensions_along(d);
  const int na = a < p.dimensions ? 2 : 1, nb = b < p.dimensions ? 2 : 1;
  double field = 0;
  for (int j = 0; j < nb; ++j)
    for (int i = 0; i < na; ++i) {
      point node{};
      node[d] = side ? m.cells[d] - 1 : 0;
      node[a] = t.at[0] + i, node[b] = t.at[1] + j;
      field += double(self.f.e[d][std::size_t(m.index(node))]) / (na * nb);
    }
  if (p.cylinder && d == 1) field *= m.radius(m.cells[1] - 0.5) / m.radius(m.cells[1]);
  return (side ? -field : field) - charge_before / t.area;
}

/// Returns the particles that a face emits in this step, with a fraction: as many as leave no charge on the conductor,
/// or by a law.
template <class T>
double number_by_field(const plan& p, const patch<T>& self, const emitter& e, const tile& t, double charge_before) {
  const double field = surface_field(p, self, e, t, charge_before),
               charge = p.species_list[std::size_t(e.species_index)].charge;
  if (e.space_charge_limited) return field * t.area / (charge * e.weight);
  return flux_by_law(e, charge < 0 ? -field : field, p.coupling) * t.area * p.dt / e.weight;
}

/// Returns the whole particles of a face whose emission depends on the field, in this step.
template <class T>
std::int64_t count_by_field(const plan& p, const patch<T>& self, const emitter& e, const tile& t,
                            const std::vector<double>& charge_before, const stream_id& stream) {
  const int row = self.mesh.cells[dimensions_along(side_of(p, e).d)[0]];
  const double n = number_by_field(p, self, e, t, charge_before[std::size_t(t.at[0] + row * t.at[1])]) *
                   profile_at(p, e, point_of_tile(p, self, e, t, {0.5, 0.5}));
  check(n < 1e8, "a plate would emit more than 1e8 particles at once: its weight is too small");
  return std::int64_t(std::floor(std::fmax(n, 0) + unit_interval(random_words(stream, 0)[0])));
}
/// Returns the whole particles of a tile with a given flux in a step.
std::int64_t flux_count(const plan& p, const emitter& e, const tile& t, std::int64_t step) {
  const double per_flux = t.area * p.dt / e.weight * profile_at(p, e, point_on_plate(p, e, t, 0.5, 0.5));
  // An offset of each tile, so that tiles do not emit all at once.
  const auto constant =
      stream_of(p.seed, random_purpose::emission, std::uint32_t(t.emitter), t.number, ~std::uint64_t(0));
  const double offset = unit_interval(random_words(constant, 0)[0]);
  return std::int64_t(std::floor(e.flux_until(step + 1) * per_flux + offset)) -
         std::int64_t(std::floor(e.flux_until(step) * per_flux + offset));
}

}  // namespace

template <class T>
moving_particles<T> emit(const plan& p, patch<T>& self, std::size_t s) {
  const patch_grid& m = self.mesh;
  moving_particles<T> out;
  particles<T> left_charge;  ///< emitted by plates that keep the opposite charge; of sides that conduct, electrodes do
  std::vector<double> charge_before;
  int charge_of = -1;  // emitter that charge_before belongs to
  for (const tile& t : self.tiles) {
    const emitter& e = p.emitters[std::size_t(t.emitter)];
    if (std::size_t(e.species_index) != s) continue;
    const auto stream =
        stream_of(p.seed, random_purpose::emission, std::uint32_t(t.emitter), t.number, std::uint64_t(self.step));
    if (e.follows_field() && t.emitter != charge_of)
      charge_before = charge_near_side(p, self, side_of(p, e)), charge_of = t.emitter;
    const std::int64_t n =
        e.follows_field() ? count_by_field(p, self, e, t, charge_before, stream) : flux_count(p, e, t, self.step);
    const frame f = frame_of(p, e);
    const box_side at_side = side_of(p, e);
    const bool on_electrode = p.electrostatic && at_side.side >= 0;
    const double spread = std::sqrt(e.temperature / p.species_list[s].mass);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto word = random_words(stream, 2 * std::uint64_t(i) + 1),
                 more = random_words(stream, 2 * std::uint64_t(i) + 2);
      const vector x = point_of_tile(p, self, e, t, {unit_interval(word[0]), unit_interval(word[1])});
      // Momentum of a flux: normal along the plate, u exp(-u^2 / 2 spread^2) away from it.
      const auto along = normal_pair(more[0], more[1]);
      const double away = e.drift + spread * std::sqrt(-2 * std::log(above_zero(word[3])));
      point cell{};
      vector in_cell{};
      bool inside = true;
      for (int d = 0; d < p.dimensions; ++d) {
        const double at = x[std::size_t(d)] / m.spacing[d];
        const int in_box = std::clamp(int(std::floor(at)), 0, p.cells[d] - 1);
        cell[d] = in_box - m.first[d];
        in_cell[std::size_t(d)] = std::clamp(at - in_box, 0.0, 1.0);
        inside = inside && cell[d] >= 0 && cell[d] < m.cells[d];
      }
      if (!inside) continue;
      for (std::size_t d = 0; d < std::size_t(p.dimensions); ++d)
        out.state.cell[d].push_back(cell[d]), out.state.x[d].push_back(T(in_cell[d]));
      for (std::size_t c = 0; c < 3; ++c)
        out.state.u[c].push_back(T(away * f.normal[c] + spread * (along[0] * f.first[c] + along[1] * f.second[c])));
      out.state.w.push_back(T(e.weight));
      if (p.species_list[s].tracked) out.state.id.push_back(self.new_id(p));
      out.remaining.push_back(above_zero(word[2]));
      self.row[record::at(s, record::emitted)] += 1;
      self.row[record::at(s, record::emitted_weight)] += double(out.state.w.back());
      const vector u{double(out.state.u[0].back()), double(out.state.u[1].back()), double(out.state.u[2].back())};
      self.row[record::at(s, record::emitted_energy)] += e.weight * kinetic_energy(u, p.species_list[s].mass);
      if (on_electrode)
        self.arrived_charge[std::size_t(2 * at_side.d + at_side.side)] -= p.species_list[s].source() * e.weight;
      else
        left_charge.append(out.state, out.state.size() - 1, p.dimensions);
    }
  }
  if (!left_charge.empty()) {
    fields<T> opposite_charge;
    opposite_charge.rho = std::move(self.plate_charge);
    deposit_charge(m, p.order, opposite_charge, left_charge, -p.species_list[s].source());
    self.plate_charge = std::move(opposite_charge.rho);
  }
  return out;
}

template moving_particles<float> emit(const plan&, patch<float>&, std::size_t);
template moving_particles<double> emit(const plan&, patch<double>&, std::size_t);

}  // namespace plaq::pic
