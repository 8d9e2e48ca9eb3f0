#include "plaq/pic/fields/conductors.hpp"

#include <map>

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

}  // namespace

std::vector<std::pair<std::int64_t, std::size_t>> conductor_surface(const plan& p) {
  const auto all = conductors_of_nodes(p);
  std::vector<std::pair<std::int64_t, std::size_t>> out;
  for (const auto& [number, conductor] : all) {
    const std::int64_t row = p.nodes(0), plane = row * p.nodes(1);
    const point at{int(number % row), int(number % plane / row), int(number / plane)};
    bool inside = true, on_side = false;
    for (int d = 0; d < p.dimensions; ++d) {
      on_side =
          on_side || (p.wall(d, 0) && at[d] == 0) || (p.wall(d, 1) && at[d] == p.cells[d]);  // of a known potential
      for (const int step : {-1, 1}) {
        point next = at;
        next[d] += step;
        const auto neighbour = wrapped_node(p, next);
        inside = inside && (neighbour < 0 || all.contains(neighbour));
      }
    }
    if (!inside && !on_side) out.emplace_back(number, conductor);
  }
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

template void shield(const patch_grid&, const solid_mask&, fields<float>&);
template void shield(const patch_grid&, const solid_mask&, fields<double>&);

}  // namespace plaq::pic
