// Sums over the particles of a patch at its nodes and in bins. Each part is a whole multiple of a power of two, so that
// sums do not depend on their order.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Moment of a distribution: what a particle of weight 1 counts: 1, a component of its velocity, or its kinetic energy.
enum class moment { number, flux_x, flux_y, flux_z, energy };
/// Coordinate of a particle: of its place, of its momentum per mass, or its kinetic energy in m_e c^2.
enum class coordinate { x, y, z, ux, uy, uz, energy };

/// Returns the number of particles of species s, and the largest amount of the part of one in a moment.
template <class T>
std::pair<std::size_t, double> bound_of_moment(const plan& p, const patch<T>& self, std::size_t s, moment of);

/// Returns a moment of species s at the nodes around the patch's cells, x fastest, by linear weights; the share of each
/// particle in a node is rounded to a multiple of 2^unit, which the result is in units of.
template <class T>
std::vector<double> count_at_nodes(const plan& p, const patch<T>& self, std::size_t s, moment of, int unit);

/// Axis of a histogram: bins between edges that are evenly spaced, to rounding.
struct histogram_axis {
  coordinate of = coordinate::x;
  std::vector<double> edges;

  /// Returns the bin of a value, or -1 where it is outside.
  std::ptrdiff_t bin_of(double value) const;
};
/// Returns the weight of species s in each bin, the last axis fastest, in units of 2^unit, to which each weight is
/// rounded. Places along x are less `offset`.
template <class T>
std::vector<double> count_in_bins(const plan& p, const patch<T>& self, std::size_t s,
                                  const std::vector<histogram_axis>& axes, double offset, int unit);

}  // namespace plaq::pic
