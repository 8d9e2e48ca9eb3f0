// Conductors within the box.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plaq/pic/mesh/fields.hpp"

namespace plaq::pic {

class conductor_nodes;

/// Masks of a patch grid: nodes of conductors, solid cells, which have no other nodes, and cut cells, through which a
/// surface passes beside its nodes: 1 and the number of the conductor, of a cell that of its first node; 0 elsewhere.
/// Solid cells of dielectrics have `dielectric`. Empty without conductors and dielectrics, or without cuts.
struct solid_mask {
  static constexpr std::uint16_t dielectric = 65535;
  /// Edge from a node to the next one in dimension d, of which this part is outside of conductors.
  struct cut {
    std::uint32_t node;
    int d;
    double part;
  };

  std::vector<std::uint16_t> nodes, cells, cut_cells;
  std::vector<cut> cuts;        ///< by nodes and dimensions
  std::vector<float> distance;  ///< of nodes from the surface, in cells, at most 1; below 0 in conductors, 0 of a grid

  solid_mask() = default;
  solid_mask(const plan& p, const patch_grid& m);
  /// Returns the part of an edge that is outside of conductors.
  double part_outside(std::size_t node, int d) const;
  /// Returns the mask at a point of a cell: `distance` is linear in each dimension within cut cells.
  int solid_at(const patch_grid& m, std::size_t cell, const std::array<double, 3>& x) const;
  void serialize(archive& ar) { ar(nodes, cells, cut_cells, cuts, distance); }

 private:
  void find_cuts(const conductor_nodes& conductors, const patch_grid& m);
  void find_cut_cells(const patch_grid& m);
  bool has_solid_cell(const patch_grid& m, const region& r, const point& node) const;
};

/// Sets phi at nodes of conductors, but on conducting sides of the box, from the potentials of all electrodes.
void set_conductor_potentials(const plan& p, const patch_grid& m, const solid_mask& solids,
                              const std::vector<double>& potentials, std::vector<double>& phi);

/// Returns the energies of E_x, E_y, E_z on the parts of cut edges that lie in conductors, in own cells. E is that
/// outside of them.
template <class T>
std::array<double, 3> energies_within(const patch_grid& m, const solid_mask& solids, const fields<T>& f);

/// Sets E along edges between nodes of conductors to 0, in own cells.
template <class T>
void shield(const patch_grid& m, const solid_mask& solids, fields<T>& f);

}  // namespace plaq::pic
