// Gauge fields: observables, and updates of the pure gauge theory with Wilson's action
//   S = beta sum over plaquettes of (1 - Re tr P / 3).
#pragma once
#include <cstdint>

#include "plaq/lqcd/matrices.hpp"

namespace plaq::lqcd {

/// Averages of Re tr P / 3 over the plaquettes with and without direction t.
struct plaquettes {
  double temporal, spatial;
  double mean() const { return (temporal + spatial) / 2; }
};

/// Collective, as all below.
plaquettes plaquette(engine& by, const links<double>& u);

/// Of the links in direction mu from sites of a parity: the sum over the six plaquettes of a link of what the link
/// is to be parallel to, so that they contribute Re tr U staple^+.
void staples(engine& by, matrices& out, const links<double>& u, int parity, int mu);

/// m = U staple^+ on every link: with U -> exp(e_a T_a) U the sum of Re tr P changes by Re tr(e_a T_a m).
void plaquette_derivative(engine& by, links<double>& m, const links<double>& u);

/// Which random numbers a sweep draws: those of (seed, chain, sweep).
struct sweep_stream {
  std::uint64_t seed;
  std::uint32_t chain, sweep;
};

/// One update of every link: heat bath in three SU(2) subgroups (Cabibbo and Marinari, Phys. Lett. B 119, 387
/// (1982); Kennedy and Pendleton, Phys. Lett. B 156, 393 (1985)). Directions and parities one after the other, so
/// the bits do not depend on ranks, workers or layout.
void heat_bath(engine& by, links<double>& u, double beta, const sweep_stream& random);
/// The same with reflections that keep the action (Creutz, Phys. Rev. D 36, 515 (1987)).
void over_relax(engine& by, links<double>& u);

/// Largest element of U U^+ - 1 over all links, and of |det U - 1|.
double unitarity_violation(engine& by, const links<double>& u);

}  // namespace plaq::lqcd
