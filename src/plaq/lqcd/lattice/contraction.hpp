// Sums over space of numbers on sites, such as products of propagators. They are exact and rounded once
// (exact_sum.hpp), so their bits do not depend on ranks and workers. Arrays are those of a rank's box, [t, x, y, z,
// ...].
#pragma once
#include <complex>
#include <vector>

#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/lattice.hpp"

namespace plaq::lqcd {

/// Returns [t] of the whole lattice: sum over x, y, z of f(t, x, y, z). Collective.
std::vector<std::complex<double>> slice_sums(context& ctx, const lattice& lat, const std::complex<double>* f);

/// Returns [t, a, b, c, d] of the whole lattice: sum over x, y, z and colours i, j of S(a i, b j) S'(c i, d j)^*. S and
/// S' = `other` have [spin, colour, source spin, source colour] on each site. Collective.
std::vector<std::complex<double>> spin_tensor(context& ctx, const lattice& lat, int source_colours,
                                              const std::complex<double>* S, const std::complex<double>* other);

}  // namespace plaq::lqcd
