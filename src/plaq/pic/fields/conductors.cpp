#include "plaq/pic/fields/conductors.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/mesh/permittivity.hpp"

namespace plaq::pic {

namespace {

/// Returns the conductor of each node of one, the last one in the plan.
std::map<std::int64_t, std::size_t> conductors_of_nodes(const plan& p) {
  std::map<std::int64_t, std::size_t> out;
  for (std::size_t c = 0; c < p.conductors.size(); ++c)
    for (const auto n : p.conductors[c].nodes) out[n] = c;
  return out;
}

/// Returns the number of a node, wrapped around periodic sides; -1 outside the box.
std::int64_t wrapped_node(const plan& p, point at) {
  for (int d = 0; d < p.dimensions; ++d) {
    if (p.periodic(d)) at[d] = (at[d] % p.cells[d] + p.cells[d]) % p.cells[d];
    if (at[d] < 0 || at[d] >= p.nodes(d)) return -1;
  }
  return number_of_node(p, at);
}

/// Whether a node is on a conducting side of the box, whose potential is known.
bool on_side(const plan& p, const point& at) {
  for (int d = 0; d < p.dimensions; ++d)
    if ((p.wall(d, 0) && at[d] == 0) || (p.wall(d, 1) && at[d] == p.cells[d])) return true;
  return false;
}

/// Step along the dimension direction / 2 from a node outside to that of the conductor.
int step_of(int direction) { return direction % 2 ? 1 : -1; }

double part_outside(const conductor& c, std::int64_t node, int direction) {
  const std::pair key(node, direction);
  const auto found = std::ranges::lower_bound(c.cuts, key, {}, &cut_edge::key);
  return found != c.cuts.end() && found->key() == key ? found->part : 1;
}

}  // namespace

std::vector<surface_edge> surface_edges(const plan& p) {
  const auto all = conductors_of_nodes(p);
  std::vector<surface_edge> out;
  for (const auto& [number, conductor] : all) {
    const std::int64_t row = p.nodes(0), plane = row * p.nodes(1);
    const point at{int(number % row), int(number % plane / row), int(number / plane)};
    if (on_side(p, at)) continue;
    for (int direction = 0; direction < 2 * p.dimensions; ++direction) {
      point next = at;
      next[direction / 2] -= step_of(direction);
      const auto node = wrapped_node(p, next);
      if (node >= 0 && !on_side(p, next) && !all.contains(node))
        out.push_back({{node, direction, part_outside(p.conductors[conductor], node, direction)}, conductor});
    }
  }
  std::ranges::sort(out, {}, &cut_edge::key);
  return out;
}

solid_mask::solid_mask(const plan& p, const patch_grid& m) {
  if (p.conductors.empty() && p.permittivity.empty()) return;
  const auto all = conductors_of_nodes(p);
  nodes.resize(m.size()), cells.resize(m.size());
  const region r = with_guards(m);
  point at;
  const auto for_each_cell = [&](auto use) {
    for (at[2] = r.low[2]; at[2] < r.high[2]; ++at[2])
      for (at[1] = r.low[1]; at[1] < r.high[1]; ++at[1])
        for (at[0] = r.low[0]; at[0] < r.high[0]; ++at[0]) use(std::size_t(m.index(at)));
  };
  for_each_cell([&](std::size_t i) {
    const auto found = all.find(wrapped_node(p, {m.first[0] + at[0], m.first[1] + at[1], m.first[2] + at[2]}));
    nodes[i] = found == all.end() ? std::uint16_t(0) : std::uint16_t(found->second + 1);
  });
  for_each_cell([&](std::size_t i) {
    bool full = true;
    for (int corner = 0; corner < 1 << m.dimensions; ++corner) {
      std::size_t to = i;
      for (int d = 0; d < m.dimensions; ++d)
        if (corner >> d & 1) {
          full = full && at[d] + 1 < r.high[d];
          to += std::size_t(m.stride[d]);
        }
      full = full && nodes[to];
    }
    cells[i] = full ? nodes[i] : std::uint16_t(0);
    point cell = at;
    bool in_box = true;
    for (int d = 0; d < m.dimensions; ++d) {
      cell[d] += m.first[d];
      in_box = in_box && (p.periodic(d) || (cell[d] >= 0 && cell[d] < p.cells[d]));
    }
    if (!cells[i] && in_box && cell_permittivity(p, cell) > 1) cells[i] = dielectric;
  });
  find_cuts(p, m);
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

void solid_mask::find_cuts(const plan& p, const patch_grid& m) {
  if (std::ranges::all_of(p.conductors, [](const conductor& c) { return c.cuts.empty(); })) return;
  const auto all = conductors_of_nodes(p);
  const region r = with_guards(m);
  distance.resize(m.size()), cut_cells.resize(m.size());
  point at;
  for (at[2] = r.low[2]; at[2] < r.high[2]; ++at[2])
    for (at[1] = r.low[1]; at[1] < r.high[1]; ++at[1])
      for (at[0] = r.low[0]; at[0] < r.high[0]; ++at[0]) {
        const auto i = std::size_t(m.index(at));
        const point here{m.first[0] + at[0], m.first[1] + at[1], m.first[2] + at[2]};
        const auto node = wrapped_node(p, here);
        const auto own = all.find(node);
        const bool inside = own != all.end();
        double slopes = 0;  // sum of 1 / (distance along a dimension)^2
        for (int d = 0; d < p.dimensions; ++d) {
          double nearest = 1;
          for (const int step : {-1, 1}) {
            point next = here;
            next[d] += step;
            const auto other = wrapped_node(p, next);
            const auto found = all.find(other);
            if (node < 0 || other < 0 || (found != all.end()) == inside || on_side(p, inside ? here : next)) continue;
            const int from_outside = 2 * d + (inside ? step < 0 : step > 0);
            const double part = inside ? plaq::pic::part_outside(p.conductors[own->second], other, from_outside)
                                       : plaq::pic::part_outside(p.conductors[found->second], node, from_outside);
            nearest = std::min(nearest, inside ? 1 - part : part);
            const int lower = at[d] + std::min(step, 0);
            if (part < 1 && !inside && lower >= r.low[d] && lower + 1 < r.high[d])
              cuts.push_back({std::uint32_t(step > 0 ? i : i - std::size_t(m.stride[d])), d, part});
          }
          slopes += nearest < 1 ? 1 / (nearest * nearest) : 0;
        }
        const double size = 1 / std::sqrt(std::max(slopes, 1.0));
        distance[i] = float(!inside ? size : has_solid_cell(m, r, at) ? -size : 0);
      }
  std::ranges::sort(cuts, {}, [](const cut& c) { return std::pair(c.node, c.d); });
  for (at[2] = r.low[2]; at[2] < r.high[2]; ++at[2])
    for (at[1] = r.low[1]; at[1] < r.high[1]; ++at[1])
      for (at[0] = r.low[0]; at[0] < r.high[0]; ++at[0]) {
        const auto i = std::size_t(m.index(at));
        bool whole = true;
        for (int d = 0; d < m.dimensions; ++d) whole = whole && at[d] + 1 < r.high[d];
        for (int corner = 0; whole && !cells[i] && !cut_cells[i] && corner < 1 << m.dimensions; ++corner) {
          std::size_t to = i;
          for (int d = 0; d < m.dimensions; ++d) to += corner >> d & 1 ? std::size_t(m.stride[d]) : 0;
          if (distance[to] < 0) cut_cells[i] = nodes[to];
        }
      }
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
  const region r = with_guards(m);
  point at;
  for (at[2] = r.low[2]; at[2] < r.high[2]; ++at[2])
    for (at[1] = r.low[1]; at[1] < r.high[1]; ++at[1])
      for (at[0] = r.low[0]; at[0] < r.high[0]; ++at[0]) {
        const auto i = std::size_t(m.index(at));
        if (solids.nodes[i] && !on_side(p, {m.first[0] + at[0], m.first[1] + at[1], m.first[2] + at[2]}))
          phi[i] = potentials[std::size_t(2 * p.dimensions) + solids.nodes[i] - 1];
      }
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
