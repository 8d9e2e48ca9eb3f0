// Kernels of a cylinder's fields that run for every cell, compiled for each instruction set.
#pragma once
#include "plaq/pic/mesh/fields.hpp"

namespace plaq::pic {

/// Advances B by Faraday's law of rings, B += dt dB/dt, wherever E around it is known and not behind the axis. Of the
/// fields dF/dtheta is `turn` times those of `other`.
template <class T>
void advance_ring_b(const patch_grid& m, double turn, const fields<T>& other, fields<T>& f, double dt);
/// Advances E by Ampere's law of rings, E += dt dE/dt, in own cells. On the axis E_z of turn 0 has the flux of B around
/// a disc of half a cell; other components there are those of mirror_at_axis.
template <class T>
void advance_ring_e(const patch_grid& m, double turn, const fields<T>& other, fields<T>& f, double dt);

}  // namespace plaq::pic
