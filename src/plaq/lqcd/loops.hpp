// Traces of long loops.
#pragma once
#include <complex>
#include <vector>

#include "plaq/lqcd/matrices.hpp"

namespace plaq::lqcd {

/// The average over sites of tr L / 3, where L is the product of the links in direction mu around the lattice.
/// Collective, as all below.
std::complex<double> polyakov_loop(engine& by, const links<double>& u, int mu = 0);

/// The averages of Re tr W / 3 over planar loops of r sites in one of the directions 1 ... 3 and t sites in
/// direction 0:
/// [(r - 1) most_t + t - 1] for r to most_r, t to most_t. `across` are the links of the sides in directions 1 ...
/// 3, as smeared ones; `along` those in direction 0.
std::vector<double> wilson_loops(engine& by, const links<double>& across, const links<double>& along, int most_r,
                                 int most_t);

}  // namespace plaq::lqcd
