// Sums over space of numbers on sites, such as products of propagators. Their bits do not depend on ranks and workers:
// sums over cubes of 2^3 sites have a fixed order, and sums of cubes are exact and rounded once (exact_sum.hpp). Arrays
// are those of a rank's box, [t, x, y, z, ...].
#pragma once
#include <complex>
#include <vector>

#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/lattice.hpp"

namespace plaq::lqcd {

/// Phases of momenta, [momentum, x, y, z] of a rank's box.
struct momentum_phases {
  int count;
  const std::complex<double>* values;
};

/// Propagator [spin, colour, source spin, source colour] on each site, of 1 or 4 source spins and up to 3 colours.
struct quark_line {
  int spins, colours;
  const std::complex<double>* values;
};

/// Returns [t] of the whole lattice: sum over x, y, z of f(t, x, y, z). Collective.
std::vector<std::complex<double>> slice_sums(context& ctx, const lattice& lat, const std::complex<double>* f);

/// Returns [momentum, t, a, b, c, d] of the whole lattice: sum over x, y, z and colours i, j of phase(x) S(a i, b j)
/// S'(c i, d j)^*. Collective.
std::vector<std::complex<double>> spin_tensor(context& ctx, const lattice& lat, const momentum_phases& phases,
                                              const quark_line& S, const quark_line& other);

/// Returns [momentum, t, row]: sums over the numbers [a, b, c, d] of `spin_tensor` with each of `count` rows of
/// coefficients, faster than the tensor if they are few. Collective.
std::vector<std::complex<double>> meson_sums(context& ctx, const lattice& lat, const momentum_phases& phases,
                                             const quark_line& S, const quark_line& other, int count,
                                             const std::complex<double>* coefficients);

/// Returns [momentum, t, a, b, c, d, e, f] of the whole lattice: sum over x, y, z and colours of phase(x) eps_ijk
/// eps_i'j'k' S1(a i, b i') S2(c j, d j') S3(e k, f k'). Lines have 4 source spins and 3 colours. Collective.
std::vector<std::complex<double>> baryon_tensor(context& ctx, const lattice& lat, const momentum_phases& phases,
                                                const std::complex<double>* S1, const std::complex<double>* S2,
                                                const std::complex<double>* S3);

/// Returns [momentum, t, row]: sums over the 4096 numbers of `baryon_tensor` with each of `count` rows of coefficients.
/// It takes about as long for any number of momenta as for one. Collective.
std::vector<std::complex<double>> baryon_sums(context& ctx, const lattice& lat, const momentum_phases& phases,
                                              const std::complex<double>* S1, const std::complex<double>* S2,
                                              const std::complex<double>* S3, int count,
                                              const std::complex<double>* coefficients);

}  // namespace plaq::lqcd
