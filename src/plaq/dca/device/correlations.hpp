// Measurements of dca/measure/correlations.hpp on a device.
#pragma once
#include "plaq/dca/device/measured_sample.hpp"
#include "plaq/gpu/product.hpp"

namespace plaq::dca::device {

/// Correlations by Wick's theorem, from the Green's function of a configuration at a few random times.
template <class Team>
class correlations {
 public:
  /// Computes g0 for a sample and its neighbour, at the times of measurement `index`.
  PLAQ_BY_TEAM correlations(const measured_sample<Team>& s, const bath_view& g0, const stream_id& times,
                            std::uint64_t index)
      : g0_(g0), sites_(s.rules.sizes.sites), points_(s.rules.sizes.points()), beta_(s.rules.beta) {
    const auto words = random_words(times, index);
    for (int a = 0; a < times_measured; ++a) t_[a] = beta_ * unit_interval(words[a]);
    const measurement_workspace& r = s.r;
    s.team.grid(points_, s.order, [&](int point, int q) {
      double forward, backward;
      g0_.both_directions(r.site[q], r.tau[q], site(point), time(point), forward, backward);
      r.to[std::size_t(q) * points_ + point] = float(forward);
      r.from[std::size_t(q) * points_ + point] = float(backward);
    });
  }

  /// Adds weight * values to the sums and stores them in `increments` of the workspace.
  PLAQ_BY_TEAM void measure(const measured_sample<Team>& s, double* sums) const {
    for (int side = 0; side < 2; ++side) compute_green(s, side);
    const measurement_workspace& r = s.r;
    const double same = s.weight() / points_;
    const double pair = s.weight() * beta_ / (points_ * (times_measured - 1));
    // density, double occupancy; spin, charge, static spin, static charge, equal-time g by R
    s.team.sums(
        2 + 5 * sites_, times_measured * points_,
        [&](int at, int column, double sum) {
          const int b = at / points_, row = at - b * points_, a = row / sites_, kind = (column - 2) / sites_;
          const bool equal = a == b;
          if (column < 2) {
            if (!equal) return sum;
            const double up = occupation(r, 0, row), down = occupation(r, 1, row);
            return std::fma(same, column == 0 ? up + down : up * down, sum);
          }
          if (equal == (kind == 2 || kind == 3)) return sum;
          const int R = column - 2 - kind * sites_, i = row - a * sites_;
          const int j = s.rules.partner[R * sites_ + i], other = b * sites_ + j;
          if (kind == 4) {
            const int at_pair = row * points_ + other;
            return std::fma(same, 0.5 * (r.green[0][at_pair] + r.green[1][at_pair]), sum);
          }
          return std::fma(equal ? same : pair, wick(r, row, other, equal, i == j, kind % 2 == 0), sum);
        },
        [&](int column, double sum) {
          r.increments[column] = sum;
          sums[column] += sum;
        });
  }

 private:
  PLAQ_BY_TEAM int site(int point) const { return point % sites_; }
  PLAQ_BY_TEAM double time(int point) const { return t_[point / sites_]; }

  /// Computes g(ia, jb) = g0(ia, jb) + sum_pq g0(ia, p) M_pq g0(q, jb)
  PLAQ_BY_TEAM void compute_green(const measured_sample<Team>& s, int side) const {
    const measurement_workspace& r = s.r;
    const int k = s.order;
    gpu::multiply(
        s.team, 1, k, points_, [&](int) { return gpu::product<float>{k, r.m[side], 1, k, r.to, points_}; },
        [&](int, int q, int column, float sum) { r.half[std::size_t(q) * points_ + column] = sum; });
    gpu::multiply(
        s.team, 1, points_, points_, [&](int) { return gpu::product<float>{k, r.from, 1, points_, r.half, points_}; },
        [&](int, int row, int column, float change) {
          r.green[side][row * points_ + column] = g0_(site(row), time(row), site(column), time(column)) + change;
        });
  }

  /// Returns <n_sigma> at a point.
  PLAQ_BY_TEAM double occupation(const measurement_workspace& r, int side, int point) const {
    return 1 - r.green[side][point * points_ + point];
  }
  /// Returns <S^z S^z> or <n n> of two points.
  PLAQ_BY_TEAM double wick(const measurement_workspace& r, int row, int column, bool same_time, bool same_site,
                           bool spin) const {
    const double up = occupation(r, 0, row), down = occupation(r, 1, row), n_up = occupation(r, 0, column),
                 n_down = occupation(r, 1, column);
    double exchange = 0;
    for (int side = 0; side < 2; ++side) {
      const double there = r.green[side][row * points_ + column], back = r.green[side][column * points_ + row];
      exchange += there * (same_time && same_site ? 1 - back : -back);
    }
    return spin ? 0.25 * ((up - down) * (n_up - n_down) + exchange) : (up + down) * (n_up + n_down) + exchange;
  }

  const bath_view& g0_;
  int sites_, points_;
  double beta_, t_[times_measured];
};

}  // namespace plaq::dca::device
