// APE smearing of links in space.
#pragma once
#include "plaq/lqcd/gauge/matrices.hpp"

namespace plaq::lqcd {

/// Smears the links in directions 1 ... 3, `times` times: U -> P[(1 - alpha) U + alpha / 4 times the four staples in
/// these directions], with P[V] = V (V^+ V)^(-1/2) without the phase of its determinant (Albanese et al., Phys. Lett. B
/// 192, 163 (1987)). Collective.
void ape_smear(context& ctx, links<double>& u, double alpha, int times);

}  // namespace plaq::lqcd
