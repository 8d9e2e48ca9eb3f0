// Antennas of lasers: sheets of current.
#pragma once
#include <complex>

#include "plaq/pic/particles.hpp"

namespace plaq::pic {

/// A of the beam on the plane of its antenna, at a place in the box, as exp(-i omega t) goes with time: that of
/// Gauss, (w_0/w)^(n/2) exp(-r^2/w^2 + i (k z + k r^2/(2R) - n psi/2)), with n = 2 in three dimensions, 1 in two,
/// where the beam is a sheet, z = -focus, w = w_0 sqrt(1 + (z/z_R)^2), R = z + z_R^2/z, psi = atan(z/z_R), z_R = k
/// w_0^2/2, k = omega; 1 of a plane wave.
std::complex<double> amplitude_of(const plan& p, const antenna& a, const std::array<double, 3>& place);

/// The sheet of current K = J dx that sends a wave E out to both sides is -2 E cos(k dx/2), k the one of omega on
/// the mesh.
double current_of(const plan& p, const antenna& a);

/// Adds the antennas' currents of the step after `step` to J in own cells.
template <class T>
void radiate(const plan& p, const block& m, std::int64_t step, fields<T>& f);

}  // namespace plaq::pic
