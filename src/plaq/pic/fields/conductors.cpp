#include "plaq/pic/fields/conductors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/pic/mesh/conductor_nodes.hpp"
#include "plaq/pic/mesh/permittivity.hpp"

namespace plaq::pic {

namespace {

/// Calls use(index of a corner) for the corners of a cell that are nodes of the region; returns whether all are.
template <class Use>
bool for_each_corner(const patch_grid& m, const region& r, const point& cell, Use use) {
  bool all = true;
  for (int corner = 0; corner < 1 << m.dimensions; ++corner) {
    point node = cell;
    bool inside = true;
    for (int d = 0; d < m.dimensions; ++d) node[d] += corner >> d & 1, inside = inside && node[d] < r.high[d];
    if (inside) use(std::size_t(m.index(node)));
    all = all && inside;
  }
  return all;
}

}  // namespace

solid_mask::solid_mask(const plan& p, const patch_grid& m) {
  if (p.conductors.empty() && p.permittivity.empty()) return;
  const conductor_nodes conductors(p);
  const region r = with_guards(m);
  nodes.resize(m.size()), cells.resize(m.size());
  for_each_point(m, r, [&](const point& at, std::ptrdiff_t i) {
    const auto conductor = conductors.at(m.in_box(at));
    nodes[std::size_t(i)] = conductor ? std::uint16_t(*conductor + 1) : std::uint16_t(0);
  });
  for_each_point(m, r, [&](const point& at, std::ptrdiff_t i) {
    bool full = true;
    full = for_each_corner(m, r, at, [&](std::size_t corner) { full = full && nodes[corner]; }) && full;
    std::uint16_t& cell = cells[std::size_t(i)];
    cell = full ? nodes[std::size_t(i)] : std::uint16_t(0);
    const point here = m.in_box(at);
    bool in_box = true;
    for (int d = 0; d < m.dimensions; ++d) in_box = in_box && (p.periodic(d) || (here[d] >= 0 && here[d] < p.cells[d]));
    if (!cell && in_box && cell_permittivity(p, here) > 1) cell = dielectric;
  });
  if (std::ranges::all_of(p.conductors, [](const conductor& c) { return c.cuts.empty(); })) return;
  find_cuts(conductors, m);
  find_cut_cells(m);
}

/// Whether one of the cells around a node is solid. If not, the conductor is a grid, which lets particles through.
bool solid_mask::has_solid_cell(const patch_grid& m, const region& r, const point& node) const {
  for (int corner = 0; corner < 1 << m.dimensions; ++corner) {
    point cell = node;
    bool in_grid = true;
    for (int d = 0; d < m.dimensions; ++d) cell[d] -= corner >> d & 1, in_grid = in_grid && cell[d] >= r.low[d];
    if (in_grid && cells[std::size_t(m.index(cell))]) return true;
  }
  return false;
}

void solid_mask::find_cuts(const conductor_nodes& conductors, const patch_grid& m) {
  const region r = with_guards(m);
  distance.resize(m.size());
  for_each_point(m, r, [&](const point& at, std::ptrdiff_t index) {
    const auto i = std::size_t(index);
    const point here = m.in_box(at);
    const bool inside = nodes[i];
    double slopes = 0;  // sum of 1 / (distance along a dimension)^2
    for (int d = 0; d < m.dimensions; ++d) {
      double nearest = 1;
      for (const int step : {-1, 1}) {
        point next = here;
        next[d] += step;
        const auto part = conductors.part_outside(here, next);
        if (!part) continue;
        nearest = std::min(nearest, inside ? 1 - *part : *part);
        const int lower = at[d] + std::min(step, 0);
        if (*part < 1 && !inside && lower >= r.low[d] && lower + 1 < r.high[d])
          cuts.push_back({std::uint32_t(step > 0 ? i : i - std::size_t(m.stride[d])), d, *part});
      }
      slopes += nearest < 1 ? 1 / (nearest * nearest) : 0;
    }
    const double size = 1 / std::sqrt(std::max(slopes, 1.0));
    distance[i] = float(!inside ? size : has_solid_cell(m, r, at) ? -size : 0);
  });
  std::ranges::sort(cuts, {}, [](const cut& c) { return std::pair(c.node, c.d); });
}

void solid_mask::find_cut_cells(const patch_grid& m) {
  const region r = with_guards(m);
  cut_cells.resize(m.size());
  for_each_point(m, r, [&](const point& at, std::ptrdiff_t i) {
    if (cells[std::size_t(i)]) return;
    std::uint16_t first = 0;
    const bool whole = for_each_corner(m, r, at, [&](std::size_t corner) {
      if (!first && distance[corner] < 0) first = nodes[corner];
    });
    if (whole) cut_cells[std::size_t(i)] = first;
  });
}

int solid_mask::solid_at(const patch_grid& m, std::size_t cell, const std::array<double, 3>& x) const {
  if (cells[cell] || cut_cells.empty() || !cut_cells[cell]) return cells[cell];
  double sum = 0;
  for (int corner = 0; corner < 1 << m.dimensions; ++corner) {
    std::size_t node = cell;
    double weight = 1;
    for (int d = 0; d < m.dimensions; ++d) {
      const bool up = corner >> d & 1;
      weight *= up ? x[std::size_t(d)] : 1 - x[std::size_t(d)];
      if (up) node += std::size_t(m.stride[d]);
    }
    sum += weight * double(distance[node]);
  }
  return sum < 0 ? cut_cells[cell] : 0;
}

double solid_mask::part_outside(std::size_t node, int d) const {
  const auto found = std::ranges::lower_bound(cuts, std::pair(std::uint32_t(node), d), {},
                                              [](const cut& c) { return std::pair(c.node, c.d); });
  return found != cuts.end() && found->node == node && found->d == d ? found->part : 1;
}

void set_conductor_potentials(const plan& p, const patch_grid& m, const solid_mask& solids,
                              const std::vector<double>& potentials, std::vector<double>& phi) {
  if (p.conductors.empty()) return;
  for_each_point(m, with_guards(m), [&](const point& at, std::ptrdiff_t i) {
    const auto conductor = solids.nodes[std::size_t(i)];
    if (conductor && !on_conducting_side(p, m.in_box(at)))
      phi[std::size_t(i)] = potentials[std::size_t(2 * p.dimensions) + conductor - 1];
  });
}

template <class T>
std::array<double, 3> energies_within(const patch_grid& m, const solid_mask& solids, const fields<T>& f) {
  std::array<double, 3> out{};
  for (const auto& cut : solids.cuts) {
    const auto at = std::ptrdiff_t(cut.node);
    const auto place = [&](int d) {
      return int(at / std::max<std::ptrdiff_t>(m.stride[d], 1) % m.extent(d)) - m.guard[d];
    };
    bool own = true;
    for (int d = 0; d < m.dimensions; ++d) own = own && place(d) >= 0 && place(d) < m.cells[d];
    if (!own) continue;
    const double e = double(f.e[std::size_t(cut.d)][std::size_t(at)]);
    const double volume = cut.d == 1 ? m.cell_volume(place(1)) : m.node_volume(place(1));
    out[std::size_t(cut.d)] += 0.5 * volume * (1 - cut.part) * e * e;
  }
  return out;
}

template <class T>
void shield(const patch_grid& m, const solid_mask& solids, fields<T>& f) {
  const auto& nodes = solids.nodes;
  if (nodes.empty()) return;
  for (int c = 0; c < 3; ++c)
    for_each_row(m, own_cells(m), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i)
        if (nodes[std::size_t(i)] && nodes[std::size_t(i + m.stride[c])]) f.e[std::size_t(c)][std::size_t(i)] = 0;
    });
}

template std::array<double, 3> energies_within(const patch_grid&, const solid_mask&, const fields<float>&);
template std::array<double, 3> energies_within(const patch_grid&, const solid_mask&, const fields<double>&);
template void shield(const patch_grid&, const solid_mask&, fields<float>&);
template void shield(const patch_grid&, const solid_mask&, fields<double>&);

}  // namespace plaq::pic
