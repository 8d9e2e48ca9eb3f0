// The random streams of a plasma: what numbers are drawn for, and where.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "plaq/base/random.hpp"

namespace plaq::pic {

/// What random numbers are for: their `purpose`.
enum class draws : std::uint32_t {
  positions = 1,
  momenta = 2,
  thermal_wall = 3,
  emission = 4,
  collisions = 5,
  ionisation = 6
};

/// The coordinates are species (or emitter), two numbers of the purpose's own, and a number of the mesh: a cell
/// (positions, momenta) a patch (thermal_wall, ionisation), of an emitter's tile, or a patch and its cell
/// (collisions); the other two are the step.
inline stream_id stream_of(std::uint64_t seed, draws purpose, std::uint32_t species, std::uint64_t cell,
                           std::uint64_t step = 0) {
  return {.seed = seed,
          .purpose = std::uint32_t(purpose),
          .i = species,
          .j = std::uint32_t(step >> 32),
          .k = std::uint32_t(step),
          .l = cell};
}

/// In (0, 1].
inline double above_zero(std::uint64_t word) { return 1 - unit_interval(word); }

/// Two independent normal numbers (Box and Muller, 1958).
inline std::array<double, 2> normal_pair(std::uint64_t first, std::uint64_t second) {
  const double r = std::sqrt(-2 * std::log(above_zero(first))), phi = 2 * std::numbers::pi * unit_interval(second);
  return {r * std::cos(phi), r * std::sin(phi)};
}

}  // namespace plaq::pic
