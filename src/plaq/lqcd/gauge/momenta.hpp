// Momenta P of hybrid Monte Carlo, antihermitian and traceless, and the classical motion of a gauge field with
//   H = sum over links of |P|^2 + S(U),   dU/dtau = P U,   dP/dtau = -F.
// With P = sum_a p_a T_a and tr T_a T_b = -delta_ab / 2 the first is sum_a p_a^2 / 2, and F = sum_a T_a dS/de_a for
// U -> exp(e_a T_a) U.
#pragma once
#include <cstdint>

#include "plaq/lqcd/gauge/matrices.hpp"

namespace plaq::lqcd {

/// Momenta, one for each link, in the layout of the links.
using momenta = links<double>;

/// Draws components p_a that are Gaussian with variance one, from the stream of (seed, trajectory).
void gaussian_momenta(momenta& p, std::uint64_t seed, std::uint32_t trajectory);

/// Sum over links of |P|^2. Collective.
double kinetic_energy(context& ctx, const momenta& p);

/// Computes U = exp(time P) U on all links, and projects links onto SU(3), which changes them by rounding errors only.
void move_links(context& ctx, links<double>& u, const momenta& p, double time);

/// Computes P += factor times the traceless antihermitian part of m. For an action with dS = Re tr(e_a T_a m), F is
/// -1/2 of this part.
void kick(context& ctx, momenta& p, const links<double>& m, double factor);

}  // namespace plaq::lqcd
