// A walk on a device, seen from the host.
#pragma once
#include <vector>

#include "plaq/dca/device/accumulator.hpp"
#include "plaq/dca/device/walk_place.hpp"
#include "plaq/dca/walk/configuration.hpp"
#include "plaq/dca/walk/sample.hpp"
#include "plaq/gpu/devices.hpp"

namespace plaq::dca::device {

/// What dca::walker is for a chain, with all its moves: the same walk up to rounding, in double precision. One task at
/// a time calls.
class walker {
 public:
  /// In the bath of chain `number`, with room to measure there if it does. The place has to outlive it.
  walker(walk_place& where, std::uint32_t number, bool measures = false);

  /// Starts anew, with the numbers of these streams.
  void begin(const configuration& start, const stream_id& proposals, const stream_id& worms);

  /// Makes so many sweeps more, together with walkers of other tasks. Throws a runtime_failure where a weight is not
  /// finite or memory runs out.
  void sweeps(int count);
  /// So many measurements more, each after the sweeps that the rules say.
  void measurements(int count, accumulator& to);

  configuration current() const { return copied().vertices; }
  const walk_state& state() const { return chain_.state; }
  /// Vertices that there is room for; grows as it is needed.
  int capacity() const { return chain_.capacity; }
  /// Vertices that there is room for where a chain has that many: half as many more, and those of a block.
  static int room_for(int vertices, int block_length);
  /// What measurements need, as walker::fill.
  void fill(sample& out) const;

 private:
  // Matrices and vertices on the host.
  struct copy {
    std::vector<std::byte> hot;
    room in;
    configuration vertices;
  };
  copy copied() const;
  void take_on();
  void make_room(int capacity);
  void enlarge();

  walk_place& where_;
  bool measures_;
  chain chain_{};
  gpu::memory hot_, cold_, scratch_;
};

}  // namespace plaq::dca::device
