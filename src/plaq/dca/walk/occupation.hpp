// Which vertices stand on a site while it is empty, doubly occupied or holds one electron.
#pragma once
#include <array>
#include <cmath>

#include "plaq/dca/walk/configuration.hpp"

namespace plaq::dca {

/// In the expansion a vertex is worth (K/(2 beta Nc)) e^{gamma s (n_up - n_down)}. So vertices come at the rate
/// K/(beta Nc) and with either spin while n_up = n_down, and cosh(gamma) times as often, K/(beta Nc) + U/2, with
/// one electron of spin sigma; then s = sigma with probability e^gamma/(2 cosh gamma). Hops aside, that is all
/// there is to them. Where K < 0 those with n_up = n_down are worth less than nothing, and come at the rate
/// |K|/(beta Nc).
class occupation {
 public:
  enum kind { even, single_up, single_down };
  using chances = std::array<double, 3>;  ///< of the kinds

  /// Vertices by their spins.
  struct spins {
    int up = 0, down = 0;
    int all() const { return up + down; }
  };

  /// Least chance of every kind: guesses are wrong where electrons hop.
  static constexpr double doubt = 0.05;

  explicit occupation(const expansion& p) {
    const double each = p.K / (p.beta * p.sites);
    rate_ = {std::abs(each), each + p.U / 2, each + p.U / 2};
    const vertex_strength x(p);
    const double along = (1 + x(1, 1)) / (2 + x(1, 1) + x(1, -1));
    up_ = {0.5, along, 1 - along};
  }

  double rate(kind k) const { return rate_[k]; }

  /// The kinds that a site has in an interval of this length once an electron of spin `side` (0 up, 1 down) is
  /// added to it (or taken away), where these vertices stood before.
  chances after(spins before, double length, int side, bool added) const {
    const kind own = side == 0 ? single_up : single_down, other = side == 0 ? single_down : single_up;
    chances was;
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += was[k] = density(before, length, kind(k));
    chances out{doubt / 3, doubt / 3, doubt / 3};
    for (const kind k : {even, own, other}) {
      // Added: even -> own, other -> even (both are there); own cannot be there and is kept. Taken away: the reverse.
      const kind to = k == even ? (added ? own : other) : k == (added ? other : own) ? even : k;
      out[to] += (1 - doubt) * was[k] / sum;
    }
    return out;
  }

  /// Density of exactly these vertices, per d(time) of each, if the kind has these chances.
  double density(spins found, double length, const chances& c) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += c[k] * density(found, length, kind(k));
    return sum;
  }

  // Draws from u uniform in [0, 1).
  kind drawn_kind(const chances& c, double u) const {
    return u < c[0] ? even : u < c[0] + c[1] ? single_up : single_down;
  }
  int drawn_spin(kind k, double u) const { return u < up_[k] ? 1 : -1; }
  /// How many vertices, or more than `most`.
  int drawn_number(kind k, double length, double u, int most) const {
    const double mean = rate_[k] * length;
    double term = std::exp(-mean), sum = term;
    int n = 0;
    while (u >= sum && n <= most) sum += term *= mean / ++n;
    return n;
  }

 private:
  double density(spins found, double length, kind k) const {
    return std::exp(-rate_[k] * length) * std::pow(rate_[k] * up_[k], found.up) *
           std::pow(rate_[k] * (1 - up_[k]), found.down);
  }
  std::array<double, 3> rate_, up_;
};

}  // namespace plaq::dca
