// Kernels that run for every particle, compiled for each instruction set.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plaq/pic/mesh/fields.hpp"
#include "plaq/pic/particles/particles.hpp"

namespace plaq::pic {

/// Sums over particles: of w, w (gamma - 1) and w u.
struct particle_sums {
  double weight = 0, kinetic = 0;
  std::array<double, 3> momentum{};
};

/// Parameters of the motion of a species in a patch.
struct motion {
  pusher scheme = pusher::boris;
  double charge_per_mass = 0;
  double charge = 0;        ///< of weight 1
  sides walls{};            ///< sides of the patch that are sides of the box
  bool long_paths = false;  ///< whether a path in a step may be longer than a cell
  bool at_nodes = false;    ///< whether E and B are given at the nodes
  bool magnetic = true;     ///< false: B is 0 everywhere
  bool transverse = true;   ///< false: E is 0 across the dimensions of the mesh, and B everywhere
  bool current = true;      ///< whether J is added
};

/// Particles that cross out of the patch or meet a wall, in rising order. `leaving` are in another patch at the end of
/// the step. `to_follow` have their new momentum but their old position: their path meets a wall or is longer than a
/// cell.
struct crossing {
  std::vector<std::uint32_t> leaving, to_follow;
};

/// Sorts particles of the patch's own cells by cell, x fastest, as the other kernels need it. Particles of a cell keep
/// their order.
template <class T>
void sort_by_cell(const patch_grid& m, particles<T>& p);

/// Advances momenta from t - dt/2 to t + dt/2 and positions from t to t + dt, and adds J between if asked to. Sums are
/// those of the new momenta. Throws runtime_failure where a particle moves by more than a cell without `long_paths`, or
/// by a distance that is not finite.
template <class T>
particle_sums advance(const patch_grid& m, int order, const motion& by, fields<T>& f, particles<T>& p,
                      crossing& crossed);

/// Advances momenta alone, over a time dt.
template <class T>
void kick(const patch_grid& m, int order, const motion& by, const fields<T>& f, particles<T>& p, double dt);

/// Returns |E| at each particle.
template <class T>
std::vector<double> electric_field_at(const patch_grid& m, int order, bool at_nodes, const fields<T>& f,
                                      const particles<T>& p);

/// Straight path within a step, from a position in a cell; the displacement in cells, in dimensions that are not used
/// in lengths; in a cylinder with modes cosine and sine of the azimuth before and after it.
template <class T>
struct path {
  point cell;
  std::array<T, 3> start, displacement;
  std::array<T, 2> azimuth_before{1, 0}, azimuth_after{1, 0};
};
/// Adds to J the current of a charge on a path in a step (Esirkepov, Comput. Phys. Commun. 135 (2001) 144).
template <class T>
void deposit_path(const patch_grid& m, int order, fields<T>& f, const path<T>& along, double charge);

/// Adds to J the current that carries the charge of a particle at `at.start`, within a step, from all nodes that its
/// shape reaches to the nodes of its cell, along x, then y, then z.
template <class T>
void deposit_contraction(const patch_grid& m, int order, fields<T>& f, const path<T>& at, double charge);

/// Adds the charge density of particles to rho.
template <class T>
void deposit_charge(const patch_grid& m, int order, fields<T>& f, const particles<T>& p, double charge);

}  // namespace plaq::pic
