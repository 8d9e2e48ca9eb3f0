// Charge of a patch, and Gauss's law.
#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/pic/fields/cylinder.hpp"
#include "plaq/pic/fields/field_boundaries.hpp"
#include "plaq/pic/fields/field_kernels.hpp"
#include "plaq/pic/mesh/permittivity.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/step.hpp"

namespace plaq::pic {

namespace {

/// Nodes on which Gauss's law is checked: own nodes that are neither on a wall nor in an absorbing layer.
region gauss_nodes(const plan& p, const patch_grid& m, const sides& walls) {
  region r = own_cells(m);
  for (int d = 0; d < m.dimensions; ++d) {
    if (walls[d][0]) r.low[d] = 1;
    if (p.field_boundaries[d][0] == field_boundary::absorbing) r.low[d] = std::max(r.low[d], p.layer + 1 - m.first[d]);
    if (p.field_boundaries[d][1] == field_boundary::absorbing)
      r.high[d] = std::min(r.high[d], p.cells[d] - p.layer - m.first[d]);
    r.low[d] = std::min(r.low[d], r.high[d] = std::max(r.high[d], 0));
  }
  return r;
}

/// Returns the fields with epsilon E for E, where Gauss's law needs it.
template <class T>
fields<T> displacement_field(const plan& p, const patch<T>& self, const region& r) {
  fields<T> out = self.f;
  for (int d = 0; d < self.mesh.dimensions; ++d) {
    region edges = r;
    --edges.low[d];
    for_each_point(self.mesh, edges, [&](const point& at, std::ptrdiff_t i) {
      out.e[std::size_t(d)][std::size_t(i)] *= T(edge_permittivity(p, self.mesh.in_box(at), d));
    });
  }
  return out;
}

/// Returns div E - rho at these nodes; 0 on conductors in the box, whose charge is not known.
template <class T>
std::vector<T> residual_of(const plan& p, patch<T>& self) {
  const region r = gauss_nodes(p, self.mesh, self.walls);
  auto out = self.mesh.cylinder       ? ring_gauss_residual(self.mesh, r, self.f)
             : p.permittivity.empty() ? gauss_residual(self.mesh, r, self.f)
                                      : gauss_residual(self.mesh, r, displacement_field(p, self, r));
  auto next = out.begin();
  while (!self.solids.nodes.empty() && next != out.end())
    for_each_row(self.mesh, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i, ++next)
        if (self.solids.nodes[std::size_t(i)]) *next = 0;
    });
  return out;
}

}  // namespace

template <class T>
void deposit_own_charge(const plan& p, patch<T>& self, int only) {
  if (p.electrostatic) sort_particles(self);
  for (auto& part : self.f.modes) std::ranges::fill(part.rho, T(0));
  if (self.plate_charge.empty() || only >= 0)
    std::ranges::fill(self.f.rho, T(0));
  else
    self.f.rho = self.plate_charge;
  for (std::size_t s = 0; s < p.species_list.size(); ++s)
    if (only < 0 || only == int(s))
      deposit_charge(self.mesh, p.order, self.f, self.species[s], p.species_list[s].source());
  if (!p.circuits.empty()) self.wall_charge = charge_on_walls(self.mesh, self.walls, self.f);
  for_each_part(self.f, [&](auto& part) { fold_image_charge(self.mesh, self.walls, part); });
  if (self.mesh.cylinder) divide_by_rings(self.mesh, self.f);
}

template <class T>
halo<T> make_charge_halo(const patch<T>& self, const point& shift) {
  halo<T> out{shift};
  for_each_part(self.f,
                [&](const auto& part) { append(self.mesh, guards_towards(self.mesh, shift), part.rho, out.values); });
  return out;
}

template <class T>
void receive_charge(patch<T>& self, const halo<T>& from_neighbour) {
  const region r = edge_towards(self.mesh, opposite(from_neighbour.shift));
  const T* values = from_neighbour.values.data();
  for_each_part(self.f, [&](auto& part) { values = add(self.mesh, r, values, part.rho); });
}

template <class T>
void check_gauss_law(const plan& p, patch<T>& self) {
  const auto residual = residual_of(p, self);
  check(residual.size() == self.background.size(), "Gauss's law is checked before the start");
  double largest = 0;
  for (std::size_t i = 0; i < residual.size(); ++i)
    largest = std::max(largest, double(std::abs(residual[i] - self.background[i])));
  self.rows[self.rows.size() - record::length(p) + record::gauss(p)] = largest;
}

template <class T>
void store_background(const plan& p, patch<T>& self) {
  self.background = residual_of(p, self);
}

#define PLAQ_PIC_FOR(T)                                             \
  template void deposit_own_charge(const plan&, patch<T>&, int);    \
  template halo<T> make_charge_halo(const patch<T>&, const point&); \
  template void receive_charge(patch<T>&, const halo<T>&);          \
  template void check_gauss_law(const plan&, patch<T>&);            \
  template void store_background(const plan&, patch<T>&);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic
