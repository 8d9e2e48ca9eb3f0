// N of a chain on a device, without moves.
#pragma once
#include <cmath>

#include "plaq/dca/device/chain.hpp"
#include "plaq/dca/walk/spin_flip.hpp"

namespace plaq::dca::device {

/// Matrices and vertices of a walk. Every thread has a copy with equal values.
template <class Team>
struct matrices {
  Team& team;
  const walk_rules& rules;
  const bath_view& g0;
  double g_equal;
  vertex_arrays r;
  std::byte* scratch;
  gpu::fast_memory fast;
  int capacity;
  int order;
  double sign;

  /// Returns the arena of a move: its scratch arrays live until the next move.
  PLAQ_BY_TEAM arena new_arena() const { return arena(scratch, fast); }

  PLAQ_BY_TEAM double& n(int side, int i, int j) const { return r.n[side][i + std::size_t(j) * capacity]; }

  /// Returns e^V - 1; side 0 is up, 1 down.
  PLAQ_BY_TEAM double strength(int side, int spin) const { return rules.strength[(side == 0) == (spin > 0) ? 0 : 1]; }
  PLAQ_BY_TEAM double strength_of(int side, int i) const { return strength(side, r.spin[i]); }

  /// Returns sum_j m_ij x_j, by one thread for every i, in order: four partial sums for instruction-level parallelism.
  PLAQ_BY_TEAM static double row_times(int columns, const double* m, std::size_t stride, const double* x) {
    double part[4] = {};
    int j = 0;
    for (; j + 4 <= columns; j += 4)
      for (int l = 0; l < 4; ++l) part[l] = std::fma(m[(j + l) * stride], x[j + l], part[l]);
    for (; j < columns; ++j) part[0] = std::fma(m[j * stride], x[j], part[0]);
    return (part[0] + part[1]) + (part[2] + part[3]);
  }

  /// Computes N of both spins from scratch, N^-1 = e^V - g (e^V - 1), and the sign; false if they are not finite.
  PLAQ_BY_TEAM bool recompute() {
    rebuild_space space;
    double fresh_sign;
    if (!from_scratch(space, fresh_sign)) return false;
    adopt(space, fresh_sign);
    return true;
  }

  /// Recomputes N and the sign; raises `drift` to the largest change of an element. False if they are not finite.
  PLAQ_BY_TEAM bool rebuild(double& drift) {
    rebuild_space space;
    double fresh_sign;
    if (!from_scratch(space, fresh_sign)) return false;
    for (int side = 0; side < 2; ++side) {
      team.each(order, [&](int j) {
        double most = 0;
        for (int i = 0; i < order; ++i) {
          const double change = std::abs(n(side, i, j) - space.n[side][i + std::size_t(j) * order]);
          if (!(change <= most)) most = change < HUGE_VAL ? change : HUGE_VAL;  // NaN too
        }
        space.change[j] = most;
      });
      const int at = team.largest(order, [&](int j) { return space.change[j]; });
      const double most = order > 0 ? team.value([&] { return space.change[at]; }) : 0;
      if (!(most < HUGE_VAL)) return false;
      if (most > drift) drift = most;
    }
    adopt(space, fresh_sign);
    return true;
  }

 private:
  // Computes N in `space`, and the sign of (K / (2 beta Nc))^k prod_sigma det N_sigma^-1.
  PLAQ_BY_TEAM bool from_scratch(rebuild_space& space, double& fresh_sign) {
    arena a = new_arena();
    space.allocate(a, order);
    fresh_sign = rules.K < 0 && order % 2 != 0 ? -1 : 1;
    team.grid(order, order, [&](int i, int j) {
      const double g = i == j ? g_equal : g0(r.site[i], r.tau[i], r.site[j], r.tau[j]);
      for (int side = 0; side < 2; ++side) {
        const double x = strength_of(side, j);
        space.n[side][i + std::size_t(j) * order] = std::fma(-g, x, i == j ? 1 + x : 0.);
      }
    });
    for (int side = 0; side < 2; ++side) {
      const gpu::scaled det = gpu::invert(team, order, space.n[side], order, space.inverse);
      if (!(std::abs(det.mantissa) > 0 && std::abs(det.mantissa) < HUGE_VAL)) return false;
      if (det.mantissa < 0) fresh_sign = -fresh_sign;
    }
    return true;
  }

  PLAQ_BY_TEAM void adopt(const rebuild_space& space, double fresh_sign) {
    team.grid(order, 2 * order, [&](int i, int at) {
      const int side = at >= order, j = at - side * order;
      n(side, i, j) = space.n[side][i + std::size_t(j) * order];
    });
    sign = fresh_sign;
  }
};

}  // namespace plaq::dca::device
