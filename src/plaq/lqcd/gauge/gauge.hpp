// Observables of gauge fields, and updates of the pure gauge theory with
//   S = beta [c0 sum over plaquettes of (1 - Re tr P / 3) + c1 sum over 2 x 1 rectangles of (1 - Re tr R / 3)],
// c0 = 1 - 8 c1: Wilson's action with c1 = 0, Luescher and Weisz' at tree level with -1/12, Iwasaki's with -0.331,
// DBW2 with -1.4088.
#pragma once
#include <array>
#include <cstdint>
#include <limits>

#include "plaq/lqcd/gauge/matrices.hpp"

namespace plaq::lqcd {

/// Averages of Re tr P / 3 over the plaquettes with and without direction t, and over those of each plane: tx, ty, tz,
/// xy, xz, yz.
struct plaquettes {
  double temporal, spatial;
  std::array<double, 6> planes;
  double mean() const { return (temporal + spatial) / 2; }
};

/// Collective, as all below.
plaquettes plaquette(context& ctx, const links<double>& u);

/// Average of Re tr R / 3 over all rectangles.
double rectangle(context& ctx, const links<double>& u);

struct gauge_action {
  double beta, c1 = 0;
};

/// Computes m = U (c0 staple + c1 rectangle staple)^+ on every link: with U -> exp(e_a T_a) U the sum c0 Re tr P + c1
/// Re tr R changes by Re tr(e_a T_a m).
void action_derivative(context& ctx, links<double>& m, const links<double>& u, double c1);

/// Time slices whose links are updated, by default all: those in space on first <= t <= last, those in time that begin
/// on first - 1 <= t <= last.
struct moving_slices {
  int first = 0, last = std::numeric_limits<int>::max();

  bool contain(int t, int mu) const { return t >= first - (mu == 0) && t <= last; }
};

/// Stream of a sweep's random numbers.
struct sweep_stream {
  std::uint64_t seed;
  std::uint32_t chain, sweep;
};

/// Updates every link once by heat bath in three SU(2) subgroups (Cabibbo and Marinari, Phys. Lett. B 119, 387 (1982);
/// Kennedy and Pendleton, Phys. Lett. B 156, 393 (1985)). Directions and parities are updated one after the other; with
/// rectangles four colours of each, or more if extents are not multiples of four. Bits do not depend on ranks, workers
/// or layout. Rectangles need extents of at least four. Links that do not move may be any matrices.
void heat_bath(context& ctx, links<double>& u, const gauge_action& S, const sweep_stream& random,
               const moving_slices& moving = {});
/// Updates every link once by a reflection that keeps the action (Creutz, Phys. Rev. D 36, 515 (1987)).
void over_relax(context& ctx, links<double>& u, double c1 = 0, const moving_slices& moving = {});

/// Largest element of U U^+ - 1 over all links, or |det U - 1| if that is larger.
double unitarity_violation(context& ctx, const links<double>& u);

}  // namespace plaq::lqcd
