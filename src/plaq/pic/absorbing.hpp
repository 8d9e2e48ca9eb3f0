// Absorbing layers of fields before the sides of the box: a perfectly matched layer by convolution.
#pragma once
#include <array>
#include <vector>

#include "plaq/pic/particles.hpp"

namespace plaq::pic {

/// Roden and Gedney, Microwave Opt. Technol. Lett. 27 (2000) 334, with kappa = 1, alpha = 0: a derivative along
/// the layer's normal is d/dx + psi, where psi <- b psi + (b - 1) d/dx in each step and b = exp(-sigma dt). sigma
/// rises with the cube of the depth to its best value of Berenger's theory, sigma = -4 ln(R) / (2 L) at the depth
/// L, for a reflection R = 10^-8.
template <class T>
class absorbing {
 public:
  absorbing() = default;
  absorbing(const plan& p, const block& m);

  /// What is to be added to a step of E, or half a step of B, that was done as if there were no layer.
  void advance_e(const block& m, fields<T>& f);
  void advance_b(const block& m, fields<T>& f);

  /// With a window that moves by a cell: across x, in a patch that all of the layer lies in.
  void shift(const block& m);

  void serialize(archive& ar) { ar(along_); }

 private:
  /// Of a side. psi of the two components that follow its dimension: of E in own cells, of B in guard cells too.
  struct direction {
    int low = 0, high = 0;          ///< the planes that lie in a layer
    std::vector<T> keep_e, keep_b;  ///< b of each of these planes, for a step of E and half a step of B
    std::array<std::vector<T>, 2> of_e, of_b;
    void serialize(archive& ar) { ar(low, high, keep_e, keep_b, of_e, of_b); }
  };
  std::array<std::vector<direction>, 3> along_;  ///< up to two: the low side's and the high side's
};

}  // namespace plaq::pic
