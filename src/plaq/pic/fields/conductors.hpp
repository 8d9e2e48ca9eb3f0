// Conductors within the box.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "plaq/pic/mesh/fields.hpp"

namespace plaq::pic {

/// Returns the nodes of conductors with a neighbour outside all conductors, in rising order, each with the number of
/// its conductor; of several conductors the last one.
std::vector<std::pair<std::int64_t, std::size_t>> conductor_surface(const plan& p);

/// Masks of a patch grid: nodes of conductors, and solid cells, which have no other nodes: 1 and the number of the
/// conductor, of a cell that of its first node; 0 elsewhere. Cells of dielectrics have `dielectric`. Empty without
/// conductors and dielectrics.
struct solid_mask {
  static constexpr std::uint16_t dielectric = 65535;
  std::vector<std::uint16_t> nodes, cells;
  solid_mask() = default;
  solid_mask(const plan& p, const patch_grid& m);
  void serialize(archive& ar) { ar(nodes, cells); }
};

/// Sets E along edges between nodes of conductors to 0, in own cells.
template <class T>
void shield(const patch_grid& m, const solid_mask& solids, fields<T>& f);

}  // namespace plaq::pic
