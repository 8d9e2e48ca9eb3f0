// Binomial filter of current and charge.
#pragma once
#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Density that a filter smooths.
enum class source { current, charge };

/// Returns J, or rho, in the cells that are guards of the neighbour at `shift`.
template <class T>
halo<T> make_source_halo(const patch<T>& self, source which, const point& shift);
/// Writes a neighbour's halo of J, or rho, into the guard cells.
template <class T>
void receive_source(patch<T>& self, source which, const halo<T>& from_neighbour);
/// Computes m f_i + (1 - m) (f_{i-1} + f_{i+1}) / 2 in each dimension, of J or rho with guards: a pass of the plan's
/// filter. m = 1/2 in each of n passes, and m = 1 + n/2 in the pass of compensation that may follow, so that the whole
/// keeps f to the order k^4 (Birdsall, Langdon, Plasma Physics via Computer Simulation, 1985, appendix C). Conductors
/// at the sides have images, and no charge at their own nodes.
template <class T>
void filter_source(const plan& p, patch<T>& self, source which, int pass);

}  // namespace plaq::pic
