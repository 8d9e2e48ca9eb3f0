// Gauge fixing to Landau and Coulomb gauge by over-relaxation.
#pragma once
#include "plaq/lqcd/gauge/matrices.hpp"

namespace plaq::lqcd {

/// Condition and limits of gauge fixing.
struct gauge_condition {
  int lowest;         ///< direction from which links count: 0 for Landau gauge, 1 for Coulomb gauge
  double relaxation;  ///< omega of over-relaxation, from 1 to 2 (Mandula and Ogilvie, Phys. Lett. B 248, 156 (1990))
  double tolerance;   ///< of theta
  int max_sweeps;
};

/// Quality of a gauge.
struct gauge_quality {
  /// Average of Re tr U / 3 over the links that count.
  double functional;
  /// Average over sites of tr Delta Delta^+ / 3, Delta(x) the sum of A_mu(x) - A_mu(x - mu) over the directions that
  /// count, A the hermitian traceless part of U / i.
  double theta;
  int sweeps;
};

/// Measures functional and theta. Collective, as all below.
gauge_quality measure_gauge(context& ctx, const links<double>& u, int lowest);

/// Transforms the links to a local maximum of the functional: in turn on sites of both parities, in three SU(2)
/// subgroups. Ends at the tolerance or after max_sweeps. Bits do not depend on ranks, workers or layout.
gauge_quality fix_gauge(context& ctx, links<double>& u, const gauge_condition& condition);

}  // namespace plaq::lqcd
