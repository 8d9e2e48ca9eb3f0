// Kernels that run for every cell, compiled for each instruction set.
#pragma once
#include <array>
#include <vector>

#include "plaq/pic/mesh/fields.hpp"

namespace plaq::pic {

/// Advances B, B += dt dB/dt, wherever E around it is known: in all but the last guard cells.
template <class T>
void advance_b(const patch_grid& m, fields<T>& f, double dt);
/// Advances E, E += dt dE/dt, in the patch's own cells.
template <class T>
void advance_e(const patch_grid& m, fields<T>& f, double dt);

/// Returns V/2 sum of E_c^2, then of B_c^2, over a region.
template <class T>
std::array<double, 6> field_energies(const patch_grid& m, const region& r, const fields<T>& f);
/// Returns div E - rho at the nodes of a region, row by row.
template <class T>
std::vector<T> gauss_residual(const patch_grid& m, const region& r, const fields<T>& f);

}  // namespace plaq::pic
