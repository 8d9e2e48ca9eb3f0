// Gradient flow of gauge fields, and observables on them.
#pragma once
#include "plaq/lqcd/gauge/gauge.hpp"

namespace plaq::lqcd {

/// Force of a flow: of Wilson's action, of Luescher and Weisz' with c1 = -1/12 (Symanzik flow), or of that times 1 +
/// D* D / 12 (Zeuthen flow: Ramos and Sint, arXiv:1508.05552), with (D z)_mu(x) = V_mu(x) z_mu(x + mu) V_mu(x)^+ -
/// z_mu(x) and its adjoint -D*.
enum class flow_kind { wilson, symanzik, zeuthen };

/// Makes one step of Luescher's third-order Runge-Kutta scheme (arXiv:1006.4518, appendix C) for
///   dV_mu(x)/dt = Z(V) V_mu(x),  Z = - the traceless antihermitian part of V_mu(x) staple^+,
/// with rectangles in the staples of the last two kinds, which need extents of at least four. Times are in units of
/// a^2. Bits do not depend on ranks, workers or layout. Collective.
void flow_step(context& ctx, links<double>& v, double step, flow_kind kind = flow_kind::wilson);

/// Computes out = sum of the four plaquettes of a plane that begin and end at a site, with mu before nu.
void clover_leaves(context& ctx, matrices& out, const links<double>& v, int mu, int nu);

/// Energy and charge of the clover-shaped field strength F (antihermitian, traceless).
struct flow_observables {
  double energy;  ///< E = -sum over mu < nu of tr F_mu,nu^2, on average over the sites; a^4
  double charge;  ///< Q = -1/(32 pi^2) sum over sites of epsilon tr F F
};
/// Measures energy and charge. Collective.
flow_observables energy_and_charge(context& ctx, const links<double>& v);

}  // namespace plaq::lqcd
