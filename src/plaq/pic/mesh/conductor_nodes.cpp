#include "plaq/pic/mesh/conductor_nodes.hpp"

#include <algorithm>
#include <utility>

#include "plaq/pic/mesh/neighbours.hpp"

namespace plaq::pic {

namespace {

/// Returns the number of a node, wrapped around periodic sides; -1 outside the box.
std::int64_t wrapped_number(const plan& p, point node) {
  for (int d = 0; d < p.dimensions; ++d) {
    if (p.periodic(d)) node[d] = (node[d] % p.cells[d] + p.cells[d]) % p.cells[d];
    if (node[d] < 0 || node[d] >= p.nodes(d)) return -1;
  }
  return number_of_node(p, node);
}

}  // namespace

conductor_nodes::conductor_nodes(const plan& p) : plan_(p) {
  for (std::size_t c = 0; c < p.conductors.size(); ++c)
    for (const auto n : p.conductors[c].nodes) all_[n] = c;
}

std::optional<std::size_t> conductor_nodes::at(const point& node) const {
  const auto found = all_.find(wrapped_number(plan_, node));
  return found == all_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> conductor_nodes::part_outside(const point& node, const point& next) const {
  const auto own = at(node), other = at(next);
  if (own.has_value() == other.has_value()) return {};
  const point &inner = own ? node : next, &outer = own ? next : node;
  const std::int64_t number = wrapped_number(plan_, outer);
  if (number < 0 || on_conducting_side(plan_, inner)) return {};
  int d = 0;
  while (inner[d] == outer[d]) ++d;
  const std::pair key(number, 2 * d + (inner[d] > outer[d]));
  const auto& cuts = plan_.conductors[own ? *own : *other].cuts;
  const auto found = std::ranges::lower_bound(cuts, key, {}, &cut_edge::key);
  return found != cuts.end() && found->key() == key ? found->part : 1;
}

bool on_conducting_side(const plan& p, const point& node) {
  for (int d = 0; d < p.dimensions; ++d)
    if ((p.wall(d, 0) && node[d] == 0) || (p.wall(d, 1) && node[d] == p.cells[d])) return true;
  return false;
}

std::vector<surface_edge> surface_edges(const plan& p) {
  const conductor_nodes conductors(p);
  std::vector<surface_edge> out;
  for (const auto& [number, conductor] : conductors.all()) {
    const std::int64_t row = p.nodes(0), plane = row * p.nodes(1);
    const point at{int(number % row), int(number % plane / row), int(number / plane)};
    for (int direction = 0; direction < 2 * p.dimensions; ++direction) {
      point next = at;
      next[direction / 2] -= direction % 2 ? 1 : -1;
      const auto part = conductors.part_outside(next, at);
      if (part && !on_conducting_side(p, next)) out.push_back({{wrapped_number(p, next), direction, *part}, conductor});
    }
  }
  std::ranges::sort(out, {}, &cut_edge::key);
  return out;
}

}  // namespace plaq::pic
