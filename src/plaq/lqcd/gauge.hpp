// Gauge fields: observables, and updates of the pure gauge theory with
//   S = beta [c0 sum over plaquettes of (1 - Re tr P / 3) + c1 sum over 2 x 1 rectangles of (1 - Re tr R / 3)],
// c0 = 1 - 8 c1: Wilson's action with c1 = 0, Luescher and Weisz' at tree level with -1/12, Iwasaki's with -0.331,
// DBW2 with -1.4088.
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

/// The average of Re tr R / 3 over all rectangles.
double rectangle(engine& by, const links<double>& u);

struct gauge_action {
  double beta, c1 = 0;
};

/// m = U (c0 staple + c1 rectangle staple)^+ on every link: with U -> exp(e_a T_a) U the sum c0 Re tr P + c1 Re tr R
/// changes by Re tr(e_a T_a m).
void action_derivative(engine& by, links<double>& m, const links<double>& u, double c1);

/// Which random numbers a sweep draws: those of (seed, chain, sweep).
struct sweep_stream {
  std::uint64_t seed;
  std::uint32_t chain, sweep;
};

/// One update of every link: heat bath in three SU(2) subgroups (Cabibbo and Marinari, Phys. Lett. B 119, 387
/// (1982); Kennedy and Pendleton, Phys. Lett. B 156, 393 (1985)). Directions and parities one after the other,
/// with rectangles four colours of each, or more where extents are not multiples of four; so the bits do not
/// depend on ranks, workers or layout. With rectangles extents are at least four.
void heat_bath(engine& by, links<double>& u, const gauge_action& S, const sweep_stream& random);
/// The same with reflections that keep the action (Creutz, Phys. Rev. D 36, 515 (1987)).
void over_relax(engine& by, links<double>& u, double c1 = 0);

/// Largest element of U U^+ - 1 over all links, and of |det U - 1|.
double unitarity_violation(engine& by, const links<double>& u);

}  // namespace plaq::lqcd
