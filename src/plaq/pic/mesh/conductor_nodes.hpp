// Nodes of conductors within the box, and the edges of the mesh that end on them.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

/// Nodes of the conductors of a plan. Of several conductors at a node the last one has it.
class conductor_nodes {
 public:
  explicit conductor_nodes(const plan& p);

  /// Returns the conductor of a node, around periodic sides; none outside the box.
  std::optional<std::size_t> at(const point& node) const;
  /// Returns the part, outside of conductors, of the edge between two neighbouring nodes, one of them in a conductor.
  /// None for other nodes, for nodes outside the box, and where the conductor's node is on a conducting side.
  std::optional<double> part_outside(const point& node, const point& next) const;

  /// Conductors by the numbers of their nodes.
  const std::map<std::int64_t, std::size_t>& all() const { return all_; }

 private:
  const plan& plan_;
  std::map<std::int64_t, std::size_t> all_;
};

/// Whether a node is on a conducting side of the box, whose potential is known.
bool on_conducting_side(const plan& p, const point& node);

/// Edge from a node outside of all conductors to a node of this one; its part may be 1.
struct surface_edge : cut_edge {
  std::size_t conductor;
};
/// Returns the edges that end on conductors, in rising order of their keys. Where phi is known otherwise, on conducting
/// sides, nodes belong to no conductor and have no edges.
std::vector<surface_edge> surface_edges(const plan& p);

}  // namespace plaq::pic
