// Host side of the sums of a chain's bin on a device.
#pragma once
#include <cstdint>

#include "plaq/dca/device/chain_device.hpp"
#include "plaq/dca/measure/accumulator.hpp"

namespace plaq::dca::device {

/// Accumulator of a chain on a device, with the bins of dca::accumulator up to rounding. Only complete bins are copied
/// to the host.
class accumulator {
 public:
  /// @pre All arguments outlive the accumulator.
  accumulator(chain_device& where, const chain_rules& rules, std::uint32_t chain);

  void begin_bin(std::uint64_t bin);
  /// Returns the bin; throws a runtime_failure where it is incomplete or a sum is not finite.
  bin_result end_bin();
  double waiting_seconds() const { return 0; }

  /// State that the next launch resumes from, without its workspace.
  measurement_state state;

 private:
  const chain_rules& rules_;
  std::uint32_t chain_;
  gpu::memory sums_, functions_, series_;
};

/// Returns the bytes of a chain on a device: workspaces of walk and measurement for so many vertices, and its sums.
std::size_t chain_bytes(const measurement_sizes& sizes, int vertices, int block_length, int measurements_per_bin);

}  // namespace plaq::dca::device
