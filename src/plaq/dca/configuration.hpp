// What a Markov chain walks through: the vertices of the continuous-time auxiliary-field expansion.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

namespace plaq::dca {

/// One auxiliary spin at a cluster site and imaginary time 0 <= tau < beta.
struct vertex {
  int site = 0;
  int spin = 1;  ///< +1 or -1
  double tau = 0;
};

/// The vertices in the order in which the walker's matrices hold them, and the sign of the weight.
struct configuration {
  std::vector<vertex> vertices;
  double sign = 1;
};

/// What the weight of a configuration depends on, beside the bath.
struct expansion {
  double beta;
  double U;
  int sites;
  double K;  ///< the constant of the auxiliary-field decomposition, > 0

  /// cosh(gamma) = 1 + beta U Nc / (2 K); Gull et al., EPL 82, 57003 (2008), eq. (3).
  double gamma() const { return std::acosh(1 + beta * U * sites / (2 * K)); }
};

/// e^{V_sigma} - 1 of a vertex, V_sigma = gamma * sigma * s; sigma = +1 is up, -1 is down.
inline double vertex_strength(double gamma, int sigma, int spin) { return std::expm1(gamma * sigma * spin); }

}  // namespace plaq::dca
