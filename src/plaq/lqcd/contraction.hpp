// Sums over space of numbers on sites, such as products of propagators. They are exact until they are rounded
// (exact_sum.hpp), so the bits do not depend on ranks and workers. Arrays are those of a rank's box, [t, x, y, z, ...].
#pragma once
#include <complex>
#include <vector>

#include "plaq/lqcd/engine.hpp"
#include "plaq/lqcd/lattice.hpp"

namespace plaq::lqcd {

/// [t] of the whole lattice: sum over x, y, z of f(t, x, y, z). Collective.
std::vector<std::complex<double>> slice_sums(engine& by, const lattice& on, const std::complex<double>* f);

/// [t, a, b, c, d] of the whole lattice: sum over x, y, z and colours i, j of S(a i, b j) S'(c i, d j)^*, where S
/// and S' have [spin, colour, source spin, source colour] on each site and so many colours of the source. Collective.
std::vector<std::complex<double>> spin_tensor(engine& by, const lattice& on, int source_colours,
                                              const std::complex<double>* S, const std::complex<double>* other);

}  // namespace plaq::lqcd
