// Configuration that is measured, in a chain's workspace on a device: dca::sample and dca/walk/neighbours.hpp.
#pragma once
#include "plaq/dca/device/matrices.hpp"

namespace plaq::dca::device {

/// Configuration with its vertices ordered by site.
template <class Team>
struct measured_sample {
  Team& team;
  const measurement_rules& rules;
  const measurement_workspace& r;
  int order;
  double sign, mis_weight;

  PLAQ_BY_TEAM double weight() const { return sign * mis_weight; }
  PLAQ_BY_TEAM float& m(int side, int p, int q) const { return r.m[side][p + std::size_t(q) * order]; }

  /// Returns the sample of a walk, as dca::fill.
  PLAQ_BY_TEAM static measured_sample from_walk(const matrices<Team>& from, const measurement_rules& rules,
                                                const measurement_workspace& r) {
    Team& team = from.team;
    const int k = from.order;
    team.each(k, [&](int i) {
      const int site = from.r.site[i];
      int q = 0;
      for (int j = 0; j < k; ++j) {
        const int other = from.r.site[j];
        if (other < site || (other == site && j < i)) ++q;
      }
      r.vertex[q] = i;
      r.site[q] = site;
      r.tau[q] = from.r.tau[i];
      for (int side = 0; side < 2; ++side) {
        r.strength[side][q] = from.strength_of(side, i);
        r.diagonal[side][q] = from.n(side, i, i);
      }
    });
    team.each(rules.sizes.sites + 1, [&](int x) {
      int before = 0;
      for (int q = 0; q < k; ++q)
        if (r.site[q] < x) ++before;
      r.first[x] = before;
    });
    measured_sample out{team, rules, r, k, from.sign, 1};
    team.grid(k, 2 * k, [&](int p, int at) {
      const int side = at >= k, q = at - side * k;
      out.m(side, p, q) = float(r.strength[side][p] * from.n(side, r.vertex[p], r.vertex[q]));
    });
    return out;
  }

  /// Sets mis_weight, as dca::mis_weight.
  PLAQ_BY_TEAM void compute_mis_weight() {
    const double sum =
        team.sum(order, [&](int p, double so_far) { return so_far + std::abs(flip_ratio(0, p) * flip_ratio(1, p)); });
    mis_weight = order > 0 ? 1 / (1 + sum / order) : 1;
  }

  /// Flips the spin of vertex p, as dca::flip.
  PLAQ_BY_TEAM void flip(int p) {
    for (int side = 0; side < 2; ++side) {
      const double x = team.value([&] { return r.strength[side][p]; });
      if (x == 0) continue;  // without interaction nothing depends on the spins
      const double y = flip_factor(x), ratio = team.value([&] { return flip_ratio(side, p); });
      if (ratio < 0) sign = -sign;
      const double factor = (y - 1) / (ratio * x), flipped = y / ratio;
      team.each(order, [&](int i) {
        r.row[i] = m(side, p, i);
        r.column[i] = m(side, i, p);
      });
      team.grid(order, order, [&](int i, int j) {
        m(side, i, j) =
            i == p ? float(flipped * r.row[j]) : std::fma(r.column[i], float(factor * r.row[j]), m(side, i, j));
      });
      team.each(order, [&](int i) {
        double& n = r.diagonal[side][i];
        n = i == p ? n / ratio : n + r.column[i] * factor * r.row[i] / r.strength[side][i];
      });
      team.once([&] { r.strength[side][p] = y * x; });
    }
  }

 private:
  PLAQ_BY_TEAM double flip_ratio(int side, int p) const {
    return dca::flip_ratio(r.strength[side][p], r.diagonal[side][p]);
  }
};

}  // namespace plaq::dca::device
