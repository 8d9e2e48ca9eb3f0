// What lies where in a bin: the one description of the measured arrays, which Python reads too.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plaq/base/portion.hpp"
#include "plaq/dca/problem.hpp"

namespace plaq::dca {

struct axis {
  std::string name;
  std::size_t size;
};

/// One array among the numbers of a bin, in one piece, the last axis fastest.
struct bin_array {
  std::string name;
  std::vector<axis> axes;  ///< none: a single value
  bool complex = false;    ///< a value is two numbers, real and imaginary part
  std::size_t offset = 0;  ///< of the first number

  /// Numbers of the whole.
  std::size_t size() const;
  /// A row is all values along the last axis.
  std::size_t rows() const;
};
using bin_layout = std::vector<bin_array>;

/// The number of doubles in a bin.
std::size_t total_size(const bin_layout& layout);

/// The array of this name; a runtime_failure where there is none.
const bin_array& named(const bin_layout& layout, std::string_view name);

/// All are sums over the bin's measurements. sign, order (with the sign) and histogram (without) belong to the
/// walk; the others are sums of weight * value over all configurations measured, see neighbours.hpp, and `weight`
/// that of 1. Two-particle functions come last.
bin_layout layout_of(int sites, const measurement_list& measured);

/// Of the two-particle functions alone: pairing, of so many orbits of pairs (0: not measured), channel_0, ...
bin_layout two_particle_layout(int sites, int window, int orbits, int channels);
bin_layout two_particle_layout(int sites, const measurement_list& measured);

/// A share of each of these arrays: the rows that are in the portion.
bin_layout share_of(const bin_layout& layout, portion mine);

}  // namespace plaq::dca
