// Emission of electrons by heat and by strong fields.
#pragma once
#include "plaq/pic/mesh/plan.hpp"

namespace plaq::pic {

/// Returns the particles that a surface emits per area and time. `field`: at the surface, positive where it pulls the
/// particles away. `coupling`: omega_p r_e / c, with which sqrt(coupling F) is the lowering of the barrier by the image
/// force (Schottky, 1914).
///
/// Heat: A T^2 exp(-(W - sqrt(coupling F)) / T), A T^2 being emitter::factor (Richardson, Dushman).
/// Fields: a F^2 / (W t^2(f)) exp(-b v(f) W^(3/2) / F), f = coupling F / W^2, with a and b emitter::factor and
/// emitter::exponent (Murphy, Good, Phys. Rev. 102 (1956) 1464), v = 1 - f + f ln(f) / 6 and t = 1 + f/9 - f ln(f) / 18
/// (Forbes, Appl. Phys. Lett. 89 (2006) 113122, within 0.4 %); f is 1 at most.
double flux_by_law(const emitter& e, double field, double coupling);

}  // namespace plaq::pic
