// Absorbing layers of fields before the sides of the box: a perfectly matched layer by convolution.
#pragma once
#include <array>
#include <vector>

#include "plaq/pic/particles.hpp"

namespace plaq::pic {

/// Roden and Gedney, Microwave Opt. Technol. Lett. 27 (2000) 334. A derivative along the layer's normal is (d/dx) /
/// kappa + psi, where psi <- b psi + c d/dx in each step, b = exp(-(sigma / kappa + alpha) dt), c = (b - 1) sigma /
/// (kappa (sigma + kappa alpha)). At a depth s of the layer's thickness sigma = 3.2 s^3 / dx, the best of their theory,
/// against waves; kappa = 1 + s^3 / 2 and alpha = 0.05 (1 - s) / dx, against fields that do not travel.
template <class T>
class absorbing {
 public:
  absorbing() = default;
  absorbing(const plan& p, const block& m);

  /// Correction to a step of E that was done as if there were no layer.
  void advance_e(const block& m, fields<T>& f);
  /// psi of B goes on by a step: once with every new E, guards included. Two halves of a step of B have the same, so
  /// that the layer's loss is the same for E and B; in halves of their own it would be another, which reflects.
  void renew_b(const block& m, const fields<T>& f);
  /// Correction to half a step of B.
  void advance_b(const block& m, fields<T>& f) const;

  /// With a window that moves by a cell: across x, in a patch that all of the layer lies in.
  void shift(const block& m);

  void serialize(archive& ar) { ar(along_); }

 private:
  /// Coefficients of the planes that lie in a layer: b, c and 1 / kappa - 1, where E or B is.
  struct factors {
    std::vector<T> keep, gain, rest;
    void serialize(archive& ar) { ar(keep, gain, rest); }
  };
  /// Of a side. psi of the two components that follow its dimension: of E in own cells, of B in guard cells too.
  struct direction {
    int low = 0, high = 0;  ///< the planes that lie in a layer
    factors at_e, at_b;
    std::array<std::vector<T>, 2> of_e, of_b;
    void serialize(archive& ar) { ar(low, high, at_e, at_b, of_e, of_b); }
  };
  std::array<std::vector<direction>, 3> along_;  ///< up to two: the low side's and the high side's
};

}  // namespace plaq::pic
