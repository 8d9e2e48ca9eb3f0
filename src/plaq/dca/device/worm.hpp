// Worm of dca::spin_worm, which defines it, on a device.
#pragma once
#include "plaq/dca/device/matrices.hpp"
#include "plaq/dca/walk/spin_worm.hpp"

namespace plaq::dca::device {

static_assert(most_flips == dca::spin_worm::most_flips);

/// Worm of one team. While it walks, N of both spins with the worm's row and column is in its scratch memory.
template <class Team>
class worm {
 public:
  PLAQ_BY_TEAM explicit worm(matrices<Team> &m) : m_(m), team_(m.team), beta_(m.rules.beta) {}

  /// Makes an excursion with the numbers first ... first + longest_worm. If it closes, its spins flip and N is
  /// recomputed. False if N is not finite.
  PLAQ_BY_TEAM bool send(const stream_id &stream, std::uint64_t first) {
    arena memory = m_.new_arena();
    r_.allocate(memory, m_.order);
    if (m_.order == 0 || !walk(stream, first)) return true;
    team_.each(m_.order, [&](int i) {
      if (r_.flipped[i]) m_.r.spin[i] *= -1;
    });
    return m_.recompute();
  }

 private:
  struct point {
    int site;
    double tau;
  };
  static constexpr int up = 0;
  using rules_of = dca::spin_worm;

  /// Element of N with the worm's row and column.
  PLAQ_BY_TEAM double &n(int side, int i, int j) const { return r_.n[side][i + std::size_t(j) * (m_.order + 1)]; }

  /// Tabulates `forward` and `backward`: g from a point to all vertices, and back.
  PLAQ_BY_TEAM void tabulate(point at) {
    team_.each(m_.order, [&](int i) {
      m_.g0.both_directions(m_.r.site[i], m_.r.tau[i], at.site, at.tau, r_.forward[i], r_.backward[i]);
    });
  }

  // Walks; returns whether the worm closed.
  PLAQ_BY_TEAM bool walk(const stream_id &stream, std::uint64_t first) {
    const int sites = m_.rules.sites, k = m_.order;
    const double longest = rules_of::reach * beta_ * sites / k,
                 longest_step = longest < beta_ / 2 ? longest : beta_ / 2;
    for (int side = 0; side < 2; ++side) team_.grid(k, k, [&](int i, int j) { n(side, i, j) = m_.n(side, i, j); });
    team_.each(k, [&](int i) {
      r_.flipped[i] = 0;
      for (int side = 0; side < 2; ++side) r_.strength[side][i] = m_.strength_of(side, i);
    });

    const auto words = random_words(stream, first);
    const double distance = (2 * unit_interval(words[1]) - 1) * longest_step;
    const point start{int(below(words[3], sites)), beta_ * unit_interval(words[0])};
    const double opened = open(start);
    int flips = vertices_between(start, distance);
    const double ratio = opened * try_step({start.site, wrap(start.tau + distance)}, flips);
    if (!(unit_interval(words[2]) < rules_of::opening * std::abs(ratio))) return false;
    step(flips);

    for (int i = 1; i <= m_.rules.longest_worm; ++i) {
      const auto word = random_words(stream, first + i);
      const double kind = unit_interval(word[0]), u = unit_interval(word[2]);
      if (kind < rules_of::closing_probability) {
        double back = a_.tau - b_.tau;
        back = std::fma(-beta_, std::round(back / beta_), back);
        if (b_.site != a_.site || std::abs(back) >= longest_step) continue;
        flips = vertices_between(b_, back);
        if (u < std::abs(try_close(flips)) / rules_of::opening) {
          mark_flipped(flips);
          return true;
        }
      } else if (kind < rules_of::closing_probability + rules_of::hop_probability) {
        if (sites == 1) continue;
        const point other{(b_.site + 1 + int(below(word[3], sites - 1))) % sites, b_.tau};
        if (u < std::abs(try_step(other, 0))) step(0);
      } else {
        const double by = (2 * unit_interval(word[1]) - 1) * longest_step;
        flips = vertices_between(b_, by);
        if (u < std::abs(try_step({b_.site, wrap(b_.tau + by)}, flips))) step(flips);
      }
    }
    return false;
  }

  // D gains a column c, a row and a corner d: with S = d - row N c the ratio is S.
  PLAQ_BY_TEAM double open(point at) {
    const int k = m_.order;
    a_ = b_ = at;
    tabulate(at);
    double ratio = 1;
    for (int side = 0; side < 2; ++side) {
      double *const left = r_.left[side], *const right = r_.right[side], *const border = r_.border[side];
      const double corner = side == up ? -m_.g_equal : 1 - m_.g_equal;  // g(0+) and g(0-) = g(0+) - 1
      team_.each(k, [&](int i) {
        left[i] = -m_.row_times(k, r_.n[side] + i, k + 1, r_.forward);
        border[i] = -r_.backward[i] * r_.strength[side][i];
      });
      team_.sums(
          k, k, [&](int i, int j, double sum) { return std::fma(border[i], n(side, i, j), sum); },
          [&](int j, double sum) { right[j] = sum; });
      const double pivot = corner - team_.sum(k, [&](int i, double sum) { return std::fma(border[i], left[i], sum); });
      team_.grid(k + 1, k + 1, [&](int i, int j) {
        n(side, i, j) = i < k && j < k ? std::fma(left[i], right[j] / pivot, n(side, i, j))
                        : i < k        ? -left[i] / pivot
                        : j < k        ? -right[j] / pivot
                                       : 1 / pivot;
      });
      ratio *= pivot;
    }
    return ratio;
  }

  // Computes y, B^-1 and z (their effect on N's column or row of the worm) of the flips of `flips` vertices in
  // `interval`. Returns the ratio of determinants; with `closing` the ratio without the worm.
  PLAQ_BY_TEAM double try_flips(int flips, bool closing) {
    if (flips > most_flips) return 0;
    const int w = m_.order;
    team_.each(2, [&](int side) {
      const int *const f = r_.interval;
      double *const b = r_.b_inverse[side], *const y = r_.y[side], *const z = r_.z[side];
      for (int j = 0; j < flips; ++j) {
        y[j] = flip_factor(r_.strength[side][f[j]]);
        for (int i = 0; i < flips; ++i) b[i + j * flips] = std::fma(n(side, f[i], f[j]), 1 - y[j], i == j ? y[j] : 0.);
      }
      gpu::serial_team alone;
      double ratio = gpu::invert(alone, flips, b, flips, side == 0 ? r_.flips[0] : r_.flips[1]).value();
      for (int p = 0; p < flips; ++p) {
        z[p] = 0;
        for (int q = 0; q < flips; ++q)
          z[p] = side == up ? std::fma(b[p + q * flips], n(side, f[q], w), z[p])
                            : std::fma(n(side, w, f[q]) * (1 - y[q]), b[q + p * flips], z[p]);
        if (side == up) z[p] *= 1 - y[p];
      }
      if (closing) {
        double corner = n(side, w, w);
        for (int p = 0; p < flips; ++p)
          corner = std::fma(-z[p], side == up ? n(side, w, f[p]) : n(side, f[p], w), corner);
        ratio *= corner;
      }
      r_.weight[side] = ratio;
    });
    return team_.value([&] { return r_.weight[0] * r_.weight[1]; });
  }

  PLAQ_BY_TEAM double try_close(int flips) { return try_flips(flips, true); }

  // After the flips N' = N - (N - 1)_{:F} (1 - y) B^-1 N_{F:}. Then up has another row of D, down another column.
  PLAQ_BY_TEAM double try_step(point to, int flips) {
    const int k = m_.order;
    double ratio = try_flips(flips, false);
    if (ratio == 0) return 0;
    next_ = to;
    tabulate(to);
    team_.each(2 * (k + 1), [&](int at) {
      const int side = at > k, i = at - side * (k + 1);
      double kept = side == up ? n(side, i, k) : n(side, k, i);
      double border =
          i == k ? side == up ? -m_.g0(to.site, to.tau, a_.site, a_.tau) : -m_.g0(a_.site, a_.tau, to.site, to.tau)
          : side == up ? -r_.backward[i] * r_.strength[side][i]
                       : -r_.forward[i];
      for (int p = 0; p < flips; ++p) {
        const int f = r_.interval[p];
        kept = std::fma(-r_.z[side][p], side == up ? n(side, i, f) : n(side, f, i), kept);
        if (side == up && i == f) {
          kept += r_.z[side][p];
          border *= r_.y[side][p];
        }
      }
      r_.worm[side][i] = kept;
      r_.border[side][i] = border;
    });
    for (int side = 0; side < 2; ++side)
      ratio *= team_.sum(k + 1, [&](int i, double sum) { return std::fma(r_.border[side][i], r_.worm[side][i], sum); });
    return ratio;
  }

  PLAQ_BY_TEAM void apply_flips(int flips) {
    const int size = m_.order + 1;
    if (flips == 0) return;
    team_.grid(size, 2 * flips, [&](int i, int at) {
      const int side = at >= flips, p = at - side * flips, f = r_.interval[p];
      r_.left[side][i + p * size] = (1 - r_.y[side][p]) * (n(side, i, f) - (i == f ? 1 : 0));
      double sum = 0;
      for (int q = 0; q < flips; ++q)
        sum = std::fma(r_.b_inverse[side][p + q * flips], n(side, r_.interval[q], i), sum);
      r_.right[side][i + p * size] = sum;
    });
    team_.grid(size, 2 * size, [&](int i, int at) {
      const int side = at >= size, j = at - side * size;
      double sum = n(side, i, j);
      for (int p = 0; p < flips; ++p) sum = std::fma(-r_.left[side][i + p * size], r_.right[side][j + p * size], sum);
      n(side, i, j) = sum;
    });
    team_.each(2 * flips, [&](int at) {
      const int side = at >= flips, p = at - side * flips;
      r_.strength[side][r_.interval[p]] *= r_.y[side][p];
    });
  }

  // A row of D is replaced by r: N' = N - N_{:w} (r N - e_w) / (r N)_w; a column by c: N' = N - (N c - e_w) N_{w:} /
  // (N c)_w.
  PLAQ_BY_TEAM void step(int flips) {
    const int size = m_.order + 1, w = m_.order;
    apply_flips(flips);
    const array_pair<double> left = r_.left, right = r_.right;
    team_.sums(
        size, size, [&](int i, int j, double sum) { return std::fma(r_.border[0][i], n(0, i, j), sum); },
        [&](int j, double sum) { right[0][j] = sum; });
    team_.each(size, [&](int i) {
      left[0][i] = n(0, i, w);
      left[1][i] = m_.row_times(size, r_.n[1] + i, size, r_.border[1]);
      right[1][i] = n(1, w, i);
    });
    team_.grid(size, 2 * size, [&](int i, int at) {
      const int side = at >= size, j = at - side * size;
      const double pivot = side == up ? right[0][w] : left[1][w];
      const double l = side == up || i < w ? left[side][i] : left[side][i] - 1;
      const double r = side == up && j == w ? right[side][j] - 1 : right[side][j];
      n(side, i, j) = std::fma(-l, r / pivot, n(side, i, j));
    });
    mark_flipped(flips);
    b_ = next_;
  }

  PLAQ_BY_TEAM void mark_flipped(int flips) {
    team_.each(flips, [&](int p) { r_.flipped[r_.interval[p]] ^= 1; });
  }

  // Sets `interval` to the vertices of a site from its time to that time + distance, most_flips of them at most;
  // returns their number.
  PLAQ_BY_TEAM int vertices_between(point at, double distance) {
    const double from = distance > 0 ? at.tau : at.tau + distance, length = std::abs(distance);
    return team_.select(
        m_.order, [&](int i) { return m_.r.site[i] == at.site && wrap(m_.r.tau[i] - from) < length; },
        [&](int position, int i) {
          if (position < most_flips) r_.interval[position] = i;
        });
  }

  // Returns tau modulo beta, in [0, beta).
  PLAQ_BY_TEAM double wrap(double tau) const {
    tau = std::fma(-beta_, std::floor(tau / beta_), tau);
    return tau < beta_ ? tau : 0;
  }

  matrices<Team> &m_;
  worm_space r_{};
  Team &team_;
  double beta_;
  point a_{}, b_{}, next_{};
};

}  // namespace plaq::dca::device
