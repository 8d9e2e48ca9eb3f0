// Layout of a bin: the one description of the measured arrays, which Python reads too.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plaq/base/portion.hpp"
#include "plaq/dca/problem.hpp"

namespace plaq::dca {

/// Axis of an array of the bin.
struct axis {
  std::string name;
  std::size_t size;
};

/// Array of a bin, contiguous, the last axis fastest.
struct bin_array {
  std::string name;
  std::vector<axis> axes;  ///< empty for a single value
  bool complex = false;    ///< values are pairs of numbers, real and imaginary part
  std::size_t offset = 0;  ///< of the first number in the bin

  /// Number of doubles of the array.
  std::size_t size() const;
  /// Number of rows; a row is all values along the last axis.
  std::size_t rows() const;
};
using bin_layout = std::vector<bin_array>;

/// Returns the number of doubles of a bin.
std::size_t total_size(const bin_layout& layout);

/// Returns the array of this name; throws a runtime_failure where there is none.
const bin_array& array_named(const bin_layout& layout, std::string_view name);

/// Returns the layout of a bin. All arrays are sums over the bin's measurements: sign, order (with the sign) and
/// histogram (without) of the configurations of the walk, the others of weight * value over all configurations measured
/// (see neighbours.hpp); `weight` is the sum of the weights. Two-particle functions come last.
bin_layout layout_of(int sites, const measurement_list& measured);

/// Returns the layout of the two-particle functions alone: pairing, of `orbits` orbits of pairs (0: not measured),
/// channel_0, ...
bin_layout two_particle_layout(int sites, int window, int orbits, int channels);
bin_layout two_particle_layout(int sites, const measurement_list& measured);

/// Returns the layout of a share of each of these arrays: the rows that are in the portion.
bin_layout share_of(const bin_layout& layout, portion share);

}  // namespace plaq::dca
