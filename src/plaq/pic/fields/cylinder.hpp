// Fields of z and r about the axis of a cylinder. Points of Yee's mesh stand for rings; a ring's charge is the sum of
// what particles give to its node.
#pragma once
#include <array>
#include <vector>

#include "plaq/pic/mesh/fields.hpp"

namespace plaq::pic {

/// Replaces rho, the charge per area of a cell in the plane of z and r, by the charge density. Charge behind the axis
/// is that of the rings before it.
template <class T>
void divide_by_rings(const patch_grid& m, fields<T>& f);
/// Adds J behind the axis to that of the rings before it.
template <class T>
void fold_current_at_axis(const patch_grid& m, fields<T>& f);
/// Replaces J in own cells, of which J dz dr is the current of rings, by the current density.
template <class T>
void divide_current_by_rings(const patch_grid& m, fields<T>& f);
/// Sets E and B behind the axis: components along z are even, others odd, and 0 on the axis.
template <class T>
void mirror_at_axis(const patch_grid& m, fields<T>& f);
/// Returns 1/2 sum V E_c^2, then of B_c^2, over a region; V is the volume of the ring around a point.
template <class T>
std::array<double, 6> ring_energies(const patch_grid& m, const region& r, const fields<T>& f);
/// Returns the flux of E out of the rings around the nodes of a region over their volume, less rho.
template <class T>
std::vector<T> ring_gauss_residual(const patch_grid& m, const region& r, const fields<T>& f);

}  // namespace plaq::pic
