// Antennas of lasers: sheets of current.
#pragma once
#include <complex>

#include "plaq/pic/mesh/fields.hpp"

namespace plaq::pic {

/// Amplitude A of the beam at a point of its antenna's plane, with time dependence exp(-i omega t). Gaussian beam:
/// (w_0/w)^(n/2) exp(-r^2/w^2 + i (k z + k r^2/(2R) - n psi/2)), with n = 2 in three dimensions, 1 in two,
/// where the beam is a sheet, z = -focus, w = w_0 sqrt(1 + (z/z_R)^2), R = z + z_R^2/z, psi = atan(z/z_R), z_R = k
/// w_0^2/2, k = omega; 1 of a plane wave.
std::complex<double> beam_amplitude(const plan& p, const antenna& a, const std::array<double, 3>& x);

/// Current density J = K / dx of the antenna's plane for E = 1. The sheet of current that sends a wave E out to both
/// sides is K = -2 E cos(k dx/2), k the one of omega on the mesh.
double sheet_current(const plan& p, const antenna& a);

/// Adds the antennas' currents of the step after `step` to J in own cells.
template <class T>
void radiate(const plan& p, const patch_grid& m, std::int64_t step, fields<T>& f);

}  // namespace plaq::pic
