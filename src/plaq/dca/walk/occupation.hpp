// Distribution of the vertices on a site that is empty, doubly occupied or singly occupied.
#pragma once
#include <array>
#include <cmath>

#include "plaq/dca/walk/configuration.hpp"

namespace plaq::dca {

/// Poisson model of the vertices on a site in a given occupation, without hopping.
///
/// A vertex has the weight (K/(2 beta Nc)) e^{gamma s (n_up - n_down)}. While n_up = n_down vertices therefore occur at
/// the rate K/(beta Nc) with either spin. With one electron of spin sigma they occur cosh(gamma) times as often, at the
/// rate K/(beta Nc) + U/2, and s = sigma with probability e^gamma/(2 cosh gamma). Where K < 0 the weight is negative
/// while n_up = n_down, and the rate is |K|/(beta Nc).
class occupation {
 public:
  enum state { even, single_up, single_down };
  using probabilities = std::array<double, 3>;  ///< by state

  /// Numbers of vertices by their spins.
  struct spins {
    int up = 0, down = 0;
    int all() const { return up + down; }
  };

  /// Admixture of equal probabilities of all states, because hopping can make the model wrong.
  static constexpr double admixture = 0.05;

  explicit occupation(const expansion& p) {
    const double each = p.K / (p.beta * p.sites);
    rate_ = {std::abs(each), each + p.U / 2, each + p.U / 2};
    const vertex_strength x(p);
    const double along = (1 + x(1, 1)) / (2 + x(1, 1) + x(1, -1));
    up_ = {0.5, along, 1 - along};
  }

  double rate(state k) const { return rate_[k]; }

  /// Returns the probabilities of a site's states in an interval of this length after an electron of spin `side` (0 up,
  /// 1 down) was added (or removed). `before`: vertices in the interval before that.
  probabilities probabilities_after(spins before, double length, int side, bool added) const {
    const state own = side == 0 ? single_up : single_down, other = side == 0 ? single_down : single_up;
    probabilities was;
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += was[k] = density(before, length, state(k));
    probabilities out{admixture / 3, admixture / 3, admixture / 3};
    for (const state k : {even, own, other}) {
      // Added: even -> own, other -> even (doubly occupied); own is impossible and stays. Removed: the reverse.
      const state to = k == even ? (added ? own : other) : k == (added ? other : own) ? even : k;
      out[to] += (1 - admixture) * was[k] / sum;
    }
    return out;
  }

  /// Returns the density of exactly these vertices, per d(time) of each, for these probabilities of the states.
  double density(spins vertices, double length, const probabilities& c) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += c[k] * density(vertices, length, state(k));
    return sum;
  }

  // Each draws from u, uniform in [0, 1).
  state draw_state(const probabilities& c, double u) const {
    return u < c[0] ? even : u < c[0] + c[1] ? single_up : single_down;
  }
  int draw_spin(state k, double u) const { return u < up_[k] ? 1 : -1; }
  /// Returns a number of vertices; more than `most` is `most` + 1.
  int draw_number(state k, double length, double u, int most) const {
    const double mean = rate_[k] * length;
    double term = std::exp(-mean), sum = term;
    int n = 0;
    while (u >= sum && n <= most) sum += term *= mean / ++n;
    return n;
  }

 private:
  double density(spins vertices, double length, state k) const {
    return std::exp(-rate_[k] * length) * std::pow(rate_[k] * up_[k], vertices.up) *
           std::pow(rate_[k] * (1 - up_[k]), vertices.down);
  }
  std::array<double, 3> rate_, up_;
};

}  // namespace plaq::dca
