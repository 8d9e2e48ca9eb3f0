// Traces of long loops.
#pragma once
#include <complex>
#include <vector>

#include "plaq/lqcd/gauge/matrices.hpp"

namespace plaq::lqcd {

/// Average over sites of tr L / 3, where L is the product of the links in direction mu around the lattice. Collective,
/// as all below.
std::complex<double> polyakov_loop(context& ctx, const links<double>& u, int mu = 0);

/// Averages of Re tr W / 3 over planar loops of r sites in one of the directions 1 ... 3 and t sites in direction 0:
/// [(r - 1) max_t + t - 1] for r to max_r, t to max_t. `across` has the links of the sides in directions 1 ... 3, such
/// as smeared ones; `along` those in direction 0.
std::vector<double> wilson_loops(context& ctx, const links<double>& across, const links<double>& along, int max_r,
                                 int max_t);

}  // namespace plaq::lqcd
