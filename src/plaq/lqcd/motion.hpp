// The classical motion of a gauge field, for hybrid Monte Carlo: momenta P, antihermitian and traceless, with
//   H = sum over links of |P|^2 + S(U),   dU/dtau = P U,   dP/dtau = -F.
// With P = sum_a p_a T_a and tr T_a T_b = -delta_ab / 2 the first is sum_a p_a^2 / 2, and F = sum_a T_a dS/de_a for
// U -> exp(e_a T_a) U.
#pragma once
#include <cstdint>

#include "plaq/lqcd/matrices.hpp"

namespace plaq::lqcd {

/// One for each link, in the same places.
using momenta = links<double>;

/// Components p_a that are Gaussian with variance one, by numbers of (seed, trajectory).
void gaussian_momenta(momenta& p, std::uint64_t seed, std::uint32_t trajectory);

/// sum over links of |P|^2. Collective.
double kinetic_energy(engine& by, const momenta& p);

/// U = exp(time P) U on all links. Links are made unitary again, which changes what was lost to rounding only.
void move_links(engine& by, links<double>& u, const momenta& p, double time);

/// P += factor times the traceless antihermitian part of m. For an action with dS = Re tr(e_a T_a m) F is -1/2 of it.
void kick(engine& by, momenta& p, const links<double>& m, double factor);

}  // namespace plaq::lqcd
