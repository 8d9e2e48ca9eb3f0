// The gradient flow of gauge fields, with Wilson's action.
#pragma once
#include "plaq/lqcd/gauge.hpp"

namespace plaq::lqcd {

/// One step of Luescher's third-order Runge-Kutta scheme (arXiv:1006.4518, appendix C) for
///   dV_mu(x)/dt = Z(V) V_mu(x),  Z = - the traceless antihermitian part of V_mu(x) staple^+.
/// In units of a^2; the bits do not depend on ranks, workers or layout. Collective.
void flow_step(engine& by, links<double>& v, double step);

/// out = the four plaquettes of a plane that begin and end at a site, with mu before nu.
void leaves(engine& by, matrices& out, const links<double>& v, int mu, int nu);

/// What is read off a smooth field by its clover-shaped field strength F (antihermitian, traceless).
struct field_strength {
  double energy;  ///< E = -sum over mu < nu of tr F_mu,nu^2, on average over the sites; a^4
  double charge;  ///< Q = -1/(32 pi^2) sum over sites of epsilon tr F F
};
/// Collective.
field_strength clover(engine& by, const links<double>& v);

}  // namespace plaq::lqcd
