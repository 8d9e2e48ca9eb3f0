// Conducting sides of the box: fields and charges have images behind them. E along a side is 0 on it. E and J normal to
// it are even; E and J along it and charges are odd. B has the opposite parities.
#pragma once
#include "plaq/pic/mesh/fields.hpp"

namespace plaq::pic {

/// Adds J behind the walls to J at its images.
template <class T>
void fold_image_current(const patch_grid& m, const sides& walls, fields<T>& f);
/// Returns the charge of a patch's particles that its walls hold, [2 d + side], before rho is folded: all that will not
/// be at the nodes before them, so that it is theirs where they arrive.
template <class T>
std::vector<double> charge_on_walls(const patch_grid& m, const sides& walls, const fields<T>& f);
/// Adds rho behind the walls to rho at its images.
template <class T>
void fold_image_charge(const patch_grid& m, const sides& walls, fields<T>& f);
/// Sets J, or rho, behind the walls to the images of those before, and to 0 along the walls.
template <class T>
void mirror_current(const patch_grid& m, const sides& walls, fields<T>& f);
template <class T>
void mirror_charge(const patch_grid& m, const sides& walls, fields<T>& f);
/// Sets E and B behind the walls to the images of those before.
template <class T>
void mirror_fields(const patch_grid& m, const sides& walls, fields<T>& f);
/// Computes B normal to a high side, on it, from div B = 0, in cells from `from_x` on.
template <class T>
void close_b(const patch_grid& m, const sides& walls, fields<T>& f, int from_x);

}  // namespace plaq::pic
