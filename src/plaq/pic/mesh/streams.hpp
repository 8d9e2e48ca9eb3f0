// Random streams of a plasma: purposes and coordinates.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "plaq/base/random.hpp"

namespace plaq::pic {

/// Purpose of random numbers, a coordinate of their stream.
enum class random_purpose : std::uint32_t {
  positions = 1,
  momenta = 2,
  thermal_wall = 3,
  emission = 4,
  collisions = 5,
  gas = 6,
  secondary = 7,
  reactions = 8,
  field_ionisation = 16,
  resampling = 17,
  azimuths = 18
};

/// Returns the stream of some coordinates: species (or emitter); a number of the mesh; the step. The number of the mesh
/// is a cell (positions, momenta, azimuths), a patch (thermal_wall, secondary), a tile of an emitter, or a patch and
/// its cell (collisions, gas, field_ionisation, reactions, resampling).
inline stream_id stream_of(std::uint64_t seed, random_purpose purpose, std::uint32_t species, std::uint64_t cell,
                           std::uint64_t step = 0) {
  return {.seed = seed,
          .purpose = std::uint32_t(purpose),
          .i = species,
          .j = std::uint32_t(step >> 32),
          .k = std::uint32_t(step),
          .l = cell};
}

/// Returns a number in (0, 1].
inline double above_zero(std::uint64_t word) { return 1 - unit_interval(word); }

/// Returns two independent normal numbers (Box and Muller, 1958).
inline std::array<double, 2> normal_pair(std::uint64_t first, std::uint64_t second) {
  const double r = std::sqrt(-2 * std::log(above_zero(first))), phi = 2 * std::numbers::pi * unit_interval(second);
  return {r * std::cos(phi), r * std::sin(phi)};
}

}  // namespace plaq::pic
