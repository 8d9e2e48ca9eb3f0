// State of a Markov chain: vertices of the continuous-time auxiliary-field expansion.
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

/// Parameters of the expansion: all that the weight of a configuration depends on beside the bath.
struct expansion {
  double beta;
  double U;
  int sites;
  double K;  ///< the constant of the auxiliary-field decomposition, > 0 or between -beta U Nc / 4 and 0

  /// Sign of the factor (K / (2 beta Nc))^k of k vertices.
  double sign_of_factor(int k) const { return K < 0 && k % 2 != 0 ? -1 : 1; }
};

/// e^{V_sigma} - 1 of a vertex, V_sigma = gamma sigma s with cosh(gamma) = 1 + beta U Nc / (2 K); Gull et al., EPL 82,
/// 57003 (2008), eq. (3). Where K < 0 the right side is below -1: gamma has the imaginary part pi, and e^V < 0.
class vertex_strength {
 public:
  explicit vertex_strength(const expansion& p) {
    const double growth = 1 + p.beta * p.U * p.sites / (2 * p.K), gamma = std::acosh(std::abs(growth));
    along_ = growth > 0 ? std::expm1(gamma) : -1 - std::exp(gamma);
    against_ = growth > 0 ? std::expm1(-gamma) : -1 - std::exp(-gamma);
  }

  /// Returns e^{V_sigma} - 1; sigma = +1 is up, -1 is down.
  double operator()(int sigma, int spin) const { return sigma == spin ? along_ : against_; }

 private:
  double along_, against_;
};

}  // namespace plaq::dca
