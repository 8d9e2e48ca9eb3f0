// Permittivity of the cells of a plan, and of the edges between nodes.
#pragma once
#include <algorithm>

#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

/// Returns the relative permittivity of a cell; behind a side that is not periodic, that of the last cell before it.
inline double cell_permittivity(const plan& p, point cell) {
  if (p.permittivity.empty()) return 1;
  for (int d = 0; d < p.dimensions; ++d)
    cell[d] = p.periodic(d) ? (cell[d] % p.cells[d] + p.cells[d]) % p.cells[d] : std::clamp(cell[d], 0, p.cells[d] - 1);
  return p
      .permittivity[std::size_t(cell[0]) +
                    std::size_t(p.cells[0]) * (std::size_t(cell[1]) + std::size_t(p.cells[1]) * std::size_t(cell[2]))];
}

/// Calls use(permittivity) for the cells around a node, or around the edge from it to the next node in dimension d.
template <class Use>
void for_each_cell_around(const plan& p, const point& node, int d, Use use) {
  for (int corner = 0; corner < 1 << p.dimensions; ++corner) {
    if (d >= 0 && corner >> d & 1) continue;
    point cell = node;
    for (int t = 0; t < p.dimensions; ++t) cell[t] -= corner >> t & 1;
    use(cell_permittivity(p, cell));
  }
}

/// Returns the permittivity of the edge from a node to the next one in dimension d: the mean of the cells around it, so
/// that its flux through the face between both nodes is that of all cells.
inline double edge_permittivity(const plan& p, const point& node, int d) {
  double sum = 0;
  for_each_cell_around(p, node, d, [&](double e) { sum += e; });
  return sum / (1 << (p.dimensions - 1));
}

/// Returns the permittivity of all cells around a node, or 0 where they differ.
inline double node_permittivity(const plan& p, const point& node) {
  double first = 0;
  bool same = true;
  for_each_cell_around(p, node, -1, [&](double e) {
    if (first == 0) first = e;
    same = same && e == first;
  });
  return same ? first : 0;
}

}  // namespace plaq::pic
