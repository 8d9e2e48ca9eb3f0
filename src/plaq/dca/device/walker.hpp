// Host side of a walk on a device.
#pragma once
#include <vector>

#include "plaq/dca/device/accumulator.hpp"
#include "plaq/dca/device/chain_device.hpp"
#include "plaq/dca/walk/configuration.hpp"
#include "plaq/dca/walk/sample.hpp"
#include "plaq/gpu/devices.hpp"

namespace plaq::dca::device {

/// Walker of a chain on a device, with the moves of dca::walker: the same walk up to rounding, in double precision. Not
/// thread-safe.
class walker {
 public:
  /// Walker in the bath of chain `number`, with a workspace for measurements if it measures.
  ///
  /// @pre The device outlives the walker.
  walker(chain_device& where, std::uint32_t number, bool measures = false);

  /// Begins from these vertices, with the numbers of these streams. Throws a runtime_failure for a vertex outside the
  /// problem.
  void begin(const configuration& start, const stream_id& proposals, const stream_id& worms);

  /// Makes `count` sweeps, together with walkers of other tasks. Throws a runtime_failure where a weight is not finite
  /// or memory runs out.
  void sweeps(int count);
  /// Makes `count` measurements, each after the sweeps of the rules. Throws as sweeps().
  void measurements(int count, accumulator& to);

  configuration current() const { return copy_to_host().vertices; }
  const walk_state& state() const { return chain_.state; }
  /// Largest number of vertices that fit the workspace; grows on demand.
  int capacity() const { return chain_.capacity; }
  /// Returns the capacity for a chain of this order: half as much again, and a block.
  static int capacity_for(int vertices, int block_length);
  /// Fills a sample for the measurements, as dca::walker::fill.
  void fill(sample& out) const;

 private:
  // Matrices and vertices on the host.
  struct host_copy {
    std::vector<std::byte> memory;
    vertex_arrays at;
    configuration vertices;
  };
  host_copy copy_to_host() const;
  void advance();
  void allocate(int capacity);
  void enlarge();

  chain_device& where_;
  bool measures_;
  chain chain_{};
  gpu::memory vertices_, scratch_, measured_;
};

}  // namespace plaq::dca::device
