// Fields of z and r about the axis of a cylinder. Points of Yee's mesh stand for rings; a ring's charge is the sum of
// what particles give to its node. Fields of the mode m have the parity (-1)^m in r along z, the opposite one in r and
// theta.
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
/// Replaces J in own cells, of which J dz dr is the current of rings, by the current density; J_theta of modes m >= 1,
/// which is J_theta / r before, too.
template <class T>
void divide_current_by_rings(const patch_grid& m, fields<T>& f);
/// Sets E and B behind the axis, and on it: what is odd is 0; E_theta and B_r of the mode 1 are those of a field that
/// is uniform across, E_theta = -i E_r and B_r = i B_theta (Lifschitz et al., J. Comput. Phys. 228 (2009) 1803).
template <class T>
void mirror_at_axis(const patch_grid& m, fields<T>& f);
/// Returns 1/2 sum V E_c^2, then of B_c^2, over a region and the azimuth; V is the volume of the ring around a point.
template <class T>
std::array<double, 6> ring_energies(const patch_grid& m, const region& r, const fields<T>& f);
/// Returns div E - rho at the nodes of a region, by the flux of E out of the rings around them over their volume; of
/// all modes, one after the other. On the axis modes m >= 1 have 0.
template <class T>
std::vector<T> ring_gauss_residual(const patch_grid& m, const region& r, fields<T>& f);

}  // namespace plaq::pic
