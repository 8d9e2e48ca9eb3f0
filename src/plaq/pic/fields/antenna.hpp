// Antennas of lasers: sheets of current.
#pragma once
#include <complex>

#include "plaq/pic/mesh/fields.hpp"

namespace plaq::pic {

/// Amplitude A of the beam at a point of its antenna's plane, with time dependence exp(-i omega t). Gaussian beam:
/// (w_0/w)^(n/2) exp(-r^2/w^2 + i (k z + k r^2/(2R) - n psi/2)), with n = 2 in three dimensions, 1 in two,
/// where the beam is a sheet, z = s - focus, w = w_0 sqrt(1 + (z/z_R)^2), R = z + z_R^2/z, psi = atan(z/z_R), z_R = k
/// w_0^2/2, k = omega, s along the direction and r across it; exp(i k s) of a plane wave.
std::complex<double> beam_amplitude(const plan& p, const antenna& a, const std::array<double, 3>& x);

/// Way along the direction from the point where the beam's axis meets the plane to a point of it.
double way_along(const plan& p, const antenna& a, const std::array<double, 3>& x);

/// Current density J = K / dx of the antenna's plane for E_0 = 1, in the two directions along the plane, that after the
/// normal first. In a step of the mesh with the wave numbers K_d = 2/h sin(k_d h/2), Omega = 2/dt sin(omega dt/2), the
/// sheet that sends a wave E out to both sides has K = -2 sin(k_n h)/(h Omega) (E_t + K_t (K_t E_t)/(Omega^2 - K_t^2)),
/// n being the normal and t the plane; along the normal this is -2 E cos(k h/2).
std::array<double, 2> sheet_current(const plan& p, const antenna& a);

/// Adds the antennas' currents of the step after `step` to J in own cells.
template <class T>
void radiate(const plan& p, const patch_grid& m, std::int64_t step, fields<T>& f);

}  // namespace plaq::pic
