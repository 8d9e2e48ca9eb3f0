// Geometry of emitting plates.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

/// Part of a plate, about as wide as a cell, with random numbers of its own, so that the emission of a plate does not
/// depend on patches. A tile that crosses from patch to patch belongs to each of them, and each keeps the particles
/// that begin in it. Of a plate limited by space charge: a face of a cell at the side of the box.
struct tile {
  int emitter = 0;  ///< its index in the plan
  std::uint32_t number = 0;
  /// Position along the plate's two directions; of a face, its cell of the patch in the other dimensions.
  std::array<int, 2> at{};
  std::array<int, 2> count{1, 1};
  double area = 1;
};
/// Returns the tiles of all plates that reach into a patch.
std::vector<tile> tiles_in(const plan& p, const patch_grid& m);

/// Unit vectors: the normal and two directions along the plate; of these the first `dimensions - 1` lie in the mesh.
struct frame {
  std::array<double, 3> normal, first, second;
};
/// Returns the frame of a plate.
frame frame_of(const plan& p, const emitter& e);

/// Returns the point of a plate at u and v in [0, 1] of a tile.
std::array<double, 3> point_on_plate(const plan& p, const emitter& e, const tile& t, double u, double v);

/// Returns a number in [0, 1] whose points on a line from one radius to the other have a uniform density per area of
/// the surface that the line is of, where u is uniform.
double along_ring(double from, double to, double u);

/// Returns the factor of the flux at a point of a plate.
double profile_at(const plan& p, const emitter& e, const std::array<double, 3>& x);

/// Returns the two dimensions along a side across d; in dimensions that are not used, cells are 0.
inline std::array<int, 2> dimensions_along(int d) { return {(d + 1) % 3, (d + 2) % 3}; }

}  // namespace plaq::pic
