#include "plaq/pic/poisson/circuits.hpp"

#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/permittivity.hpp"
#include "plaq/pic/poisson/cholesky.hpp"

namespace plaq::pic {

circuit_branch branch_of(const circuit& c, const circuit_state& before, double dt, bool first) {
  // I = a q + i, dI/dt = a I + d
  const double a = (first ? 1.0 : 1.5) / dt;
  const double i = first ? -before.passed / dt : (0.5 * before.passed_before - 2 * before.passed) / dt;
  const double d = first ? -before.current / dt : (0.5 * before.current_before - 2 * before.current) / dt;
  return {.offset = c.inductance * (a * i + d) + c.resistance * i,
          .impedance = a * (c.inductance * a + c.resistance) + (c.capacitance > 0 ? 1 / c.capacitance : 0)};
}

void circuits::advance(phase when, std::vector<circuit_state>& states, std::vector<double>& potentials,
                       std::span<const double> charges) const {
  const std::size_t n = plan_.circuits.size();
  const bool at_rest = when == phase::at_rest, first = when == phase::first_step;
  std::vector<double> matrix(n * n), unknown(n), source(n);
  std::vector<circuit_branch> branches(n);
  const auto is_open = [&](std::size_t k) { return at_rest || plan_.circuits[k].floating; };
  for (std::size_t k = 0; k < n; ++k) {
    const circuit& c = plan_.circuits[k];
    branches[k] = branch_of(c, states[k], plan_.dt, first);
    source[k] = potentials[std::size_t(c.electrode)] - branches[k].offset;
    unknown[k] = states[k].charge + charges[k] + (at_rest ? 0 : charges[n + k]);
    for (std::size_t j = 0; j < capacity_[k].size(); ++j) {
      const auto other = std::ranges::find(plan_.circuits, int(j), &circuit::electrode);
      if (other == plan_.circuits.end())
        unknown[k] -= capacity_[k][j] * potentials[j];
      else
        matrix[k * n + std::size_t(other - plan_.circuits.begin())] = capacity_[k][j];
    }
    if (is_open(k)) continue;
    unknown[k] += source[k] / branches[k].impedance - states[k].passed;
    matrix[k * n + k] += 1 / branches[k].impedance;
  }
  cholesky(matrix, n);
  solve_cholesky(matrix, unknown);
  for (std::size_t k = 0; k < n; ++k) {
    circuit_state& of = states[k];
    of.potential = potentials[std::size_t(plan_.circuits[k].electrode)] = unknown[k];
    if (!std::isfinite(of.potential))
      throw runtime_failure("circuit " + plan_.circuits[k].name + ": the potential of its electrode is not finite");
    if (!at_rest) of.charge += charges[n + k];
    if (is_open(k)) continue;
    const double passed = (source[k] - of.potential) / branches[k].impedance, added = passed - of.passed;
    const double current = first ? added / plan_.dt : (1.5 * added - 0.5 * (of.passed - of.passed_before)) / plan_.dt;
    of.charge += added;
    of.passed_before = std::exchange(of.passed, passed);
    of.current_before = std::exchange(of.current, current);
  }
}

namespace {

/// Returns the patch's own nodes that are on no wall, but in dimension `across`, where all own nodes count.
region inner_nodes(const patch_grid& m, const sides& walls, int across = -1) {
  region r = own_cells(m);
  for (int d = 0; d < m.dimensions; ++d)
    if (d != across && walls[d][0]) r.low[d] = 1;
  return r;
}

/// Returns j of the cell with this index.
int row_of(const patch_grid& m, std::ptrdiff_t at) {
  return int(at / std::ptrdiff_t(m.extent(0)) % std::ptrdiff_t(m.extent(1))) - m.guard[1];
}
/// Returns the area of the face between a node of row j and the next one along dimension d, over that of a plane cell.
double face_area(const patch_grid& m, int d, int j) {
  if (!m.cylinder) return 1;
  return (d == 1 ? m.cell_volume(j) : m.node_volume(j)) / m.volume();
}
/// Returns the charge of a node of this index that phi belongs to.
double charge_of_node(const plan& p, const patch_grid& m, const solid_mask& solids, const std::vector<double>& phi,
                      const point& node, std::ptrdiff_t at) {
  double sum = 0;
  for (int d = 0; d < m.dimensions; ++d)
    for (const int step : {-1, 1}) {
      point edge = node;
      edge[d] += std::min(step, 0);
      if (m.cylinder && d == 1 && m.first[1] + edge[1] < 0) continue;  // beyond the axis
      sum += face_area(m, d, edge[1]) * edge_permittivity(p, m.in_box(edge), d) *
             (phi[std::size_t(at)] - phi[std::size_t(at + step * m.stride[d])]) /
             (solids.part_outside(std::size_t(m.index(edge)), d) * m.spacing[d] * m.spacing[d]);
    }
  return m.volume() * sum;
}

}  // namespace

std::vector<double> electrode_charges(const plan& p, const patch_grid& m, const sides& walls, const solid_mask& solids,
                                      const std::vector<double>& phi) {
  std::vector<double> out(std::size_t(2 * p.dimensions) + p.conductors.size());
  for (int d = 0; d < m.dimensions; ++d)
    for (int side = 0; side < 2; ++side) {
      if (!walls[d][side]) continue;
      region r = inner_nodes(m, walls, d);
      r.low[d] = side ? m.cells[d] : 0, r.high[d] = r.low[d] + 1;
      const std::ptrdiff_t to_inner = side ? -m.stride[d] : m.stride[d];
      const double factor = m.volume() / (m.spacing[d] * m.spacing[d]);
      for_each_point(m, r, [&](const point& at, std::ptrdiff_t i) {
        point edge = at;
        edge[d] -= side;
        out[std::size_t(2 * d + side)] += factor * face_area(m, d, edge[1]) * edge_permittivity(p, m.in_box(edge), d) *
                                          (phi[std::size_t(i)] - phi[std::size_t(i + to_inner)]) /
                                          solids.part_outside(std::size_t(m.index(edge)), d);
      });
    }
  if (solids.nodes.empty()) return out;
  for_each_point(m, inner_nodes(m, walls), [&](const point& at, std::ptrdiff_t i) {
    if (!solids.nodes[std::size_t(i)]) return;
    out[std::size_t(2 * p.dimensions) + solids.nodes[std::size_t(i)] - 1] += charge_of_node(p, m, solids, phi, at, i);
  });
  return out;
}

template <class T>
std::vector<double> circuit_charges(const plan& p, const patch<T>& self) {
  const std::size_t n = p.circuits.size();
  const patch_grid& m = self.mesh;
  std::vector<double> out(2 * n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto electrode = std::size_t(p.circuits[k].electrode);
    const auto& phi = self.unit_potentials[k];
    double sum = 0;
    for_each_row(m, inner_nodes(m, self.walls), [&](std::ptrdiff_t at, std::ptrdiff_t count) {
      const double ring = m.node_volume(row_of(m, at)) / m.volume();
      for (std::ptrdiff_t i = at; i < at + count; ++i)
        sum += ring * double(self.f.rho[std::size_t(i)]) * phi[std::size_t(i)];
    });
    out[k] = sum * m.volume();
    if (electrode < self.wall_charge.size()) out[k] += self.wall_charge[electrode];
    out[n + k] = self.arrived_charge[electrode];
  }
  return out;
}

template std::vector<double> circuit_charges(const plan&, const patch<float>&);
template std::vector<double> circuit_charges(const plan&, const patch<double>&);

}  // namespace plaq::pic
