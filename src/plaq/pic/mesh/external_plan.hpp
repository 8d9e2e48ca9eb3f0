// Plan of fields from outside, which particles feel and nothing changes.
#pragma once
#include <array>
#include <vector>

#include "plaq/pic/mesh/formula.hpp"

namespace plaq::pic {

/// Values at the points first + i spacing of a mesh in each dimension, x fastest; linear between them. Up to a spacing
/// outside it is that of the nearest point, and 0 farther on.
struct field_map {
  std::array<double, 3> first{}, spacing{1, 1, 1};
  std::array<int, 3> points{1, 1, 1};
  std::vector<double> values = {};

  bool empty() const { return values.empty(); }
  double at(const std::array<double, 3>& x, int dimensions) const;
};

/// E and B from outside: formulas in units of the input, and maps in normalised units times a formula of t.
struct external_plan {
  std::array<formula, 6> formulas;  ///< of E_x ... B_z
  std::array<double, 6> unit{};     ///< of the formulas' values, normalised
  double length = 1, time = 1;      ///< units of the formulas' variables, normalised
  std::array<field_map, 6> maps;    ///< of E_x ... B_z
  formula factor;                   ///< of the maps; empty: 1

  bool has(int component) const;
  bool empty() const;
  /// Whether a component depends on time.
  bool varies(int component) const;
};

}  // namespace plaq::pic
