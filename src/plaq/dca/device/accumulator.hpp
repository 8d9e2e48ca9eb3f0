// The sums of a chain's bin on a device, seen from the host.
#pragma once
#include <cstdint>

#include "plaq/dca/device/walk_place.hpp"
#include "plaq/dca/measure/accumulator.hpp"

namespace plaq::dca::device {

/// What dca::accumulator is for a chain that walks there, with the same bins up to rounding. They leave the device when
/// they are complete.
class accumulator {
 public:
  /// All have to outlive it.
  accumulator(walk_place& where, const chain_rules& rules, std::uint32_t chain);

  void begin_bin(std::uint64_t bin);
  bin_result end_bin();
  double waited() const { return 0; }

  /// What a launch goes on with, but for its room.
  measurement_state state;

 private:
  const chain_rules& rules_;
  std::uint32_t chain_;
  gpu::memory sums_, functions_, series_;
};

/// Bytes that a chain keeps on a device: what the walk and a measurement of so many vertices need, and its sums.
std::size_t chain_bytes(const measurement_sizes& sizes, int vertices, int block_length, int measurements_per_bin);

}  // namespace plaq::dca::device
