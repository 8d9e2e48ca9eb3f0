// Absorbing layers of fields before the sides of the box: a perfectly matched layer by convolution.
#pragma once
#include <array>
#include <vector>

#include "plaq/pic/mesh/fields.hpp"

namespace plaq::pic {

/// Layers at the absorbing sides of a patch: Roden and Gedney, Microwave Opt. Technol. Lett. 27 (2000) 334. A
/// derivative along the layer's normal is (d/dx) / kappa + psi, where psi <- b psi + c d/dx in each step, b =
/// exp(-(sigma / kappa + alpha) dt), c = (b - 1) sigma / (kappa (sigma + kappa alpha)). At a depth s of the layer's
/// thickness sigma = 3.2 s^3 / dx, the best of their theory, against waves; kappa = 1 + s^3 / 2 and alpha = 0.05 (1 -
/// s) / dx, against fields that do not travel.
template <class T>
class absorbing_layers {
 public:
  absorbing_layers() = default;
  absorbing_layers(const plan& p, const patch_grid& m);

  /// Corrects a step of E that was done without layers.
  void correct_e(const patch_grid& m, fields<T>& f);
  /// Advances psi of B by a step: once with every new E, guards included. Both halves of a step of B use the same psi,
  /// so that the loss of the layer is the same for E and B; a psi for each half would change the loss and reflect
  /// waves.
  void update_psi_b(const patch_grid& m, const fields<T>& f);
  /// Corrects half a step of B.
  void correct_b(const patch_grid& m, fields<T>& f) const;

  /// Shifts psi by a cell along x, for a moving window; layers of x lie within the patch. Returns what the patch at
  /// lower x needs for its last cells, of layers across x.
  std::vector<T> shift_window(const patch_grid& m);
  /// Takes what the patch at higher x has returned, after a shift.
  void take_after_shift(const patch_grid& m, const std::vector<T>& values);

  void serialize(archive& ar) { ar(layers_); }

 private:
  /// Coefficients of the planes that lie in a layer: b, c and 1 / kappa - 1, where E or B is.
  struct factors {
    std::vector<T> b, c, inverse_kappa;  ///< the last less 1
    void serialize(archive& ar) { ar(b, c, inverse_kappa); }
  };
  /// Layer of a side: psi of the two components that follow its dimension, of E in own cells, of B in guard cells too.
  struct layer {
    int low = 0, high = 0;  ///< the planes that lie in a layer
    factors at_e, at_b;
    std::array<std::vector<T>, 2> psi_e, psi_b;
    void serialize(archive& ar) { ar(low, high, at_e, at_b, psi_e, psi_b); }
  };
  /// Calls use(psi, begin, end, next) for the rows in x of layers across x; `next` is the place of the cell from which
  /// the patch at lower x continues its row.
  template <class Use>
  void for_each_row_across(const patch_grid& m, Use use);
  std::array<std::vector<layer>, 3> layers_;  ///< up to two: the low side's and the high side's
};

}  // namespace plaq::pic
