// Messages that nobody waits for, which futures and schedules are made of. MPI is one wire; a job of one rank has
// nobody to talk to but needs the type.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plaq::comm {

/// Users' tags are 0 ... last_tag.
inline constexpr int last_tag = 30000;
/// The peer of who takes a message from whichever rank sends first; of no use to a wire. No number that is a mistake.
inline constexpr int any_rank = std::numeric_limits<int>::min();

/// The bytes of a message: `count` blocks of `block` bytes that begin `stride` bytes apart.
struct blocks {
  std::byte* data = nullptr;
  std::size_t block = 0;
  std::size_t count = 1;
  std::size_t stride = 0;

  std::size_t bytes() const { return block * count; }
  bool contiguous() const { return count <= 1 || stride == block; }
};

/// Calls run(to, from, bytes) for all that lies together on both sides, which have the same number of bytes, in
/// the order of the blocks.
template <class Run>
void each_run(const blocks& from, const blocks& to, Run&& run) {
  // Both are cut where either has a block's end.
  std::size_t i = 0, j = 0, in_i = 0, in_j = 0;
  for (std::size_t left = from.bytes(); left > 0;) {
    const std::size_t n =
        std::min({left, from.contiguous() ? left : from.block - in_i, to.contiguous() ? left : to.block - in_j});
    run(to.data + (to.contiguous() ? to.bytes() - left : j * to.stride + in_j),
        from.data + (from.contiguous() ? from.bytes() - left : i * from.stride + in_i), n);
    left -= n;
    if ((in_i += n) == from.block) ++i, in_i = 0;
    if ((in_j += n) == to.block) ++j, in_j = 0;
  }
}

/// to = from, byte by byte in the order of the blocks, in host memory.
void copy(const blocks& from, const blocks& to);

/// Ranks that send each other messages without waiting. One thread at a time calls. Buffers stay as they are until
/// the handle of the message is complete. Messages from one rank to another with one tag arrive in the order in
/// which they were sent. A failure is a runtime_failure without rank and peer: the caller has them.
///
/// Who knows what will come posts receives, as schedules do; who does not takes arrivals off the queue and matches
/// them, as messengers do. One wire serves one of the two: an arrival may be what a receive is about to be posted
/// for.
class wire {
 public:
  /// Something under way, as the wire knows it.
  using handle = std::uintptr_t;
  /// No handle.
  static constexpr handle nothing = 0;

  /// A message that is here and was taken off the queue, so that only receive() gets it.
  struct arrival {
    int peer = 0;
    int tag = 0;
    std::size_t bytes = 0;
    handle message = 0;
  };
  /// The end of handle number `index`.
  struct end {
    std::size_t index;
    std::size_t bytes;  ///< of a receive
    std::string error;  ///< empty if all went well
  };

  wire() = default;
  wire(const wire&) = delete;
  virtual ~wire() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// A wire between the same ranks, whose messages never meet those of this one. Collective, as are the two below;
  /// all three wait for the other ranks.
  virtual std::unique_ptr<wire> duplicate() = 0;
  /// Between those that give the same color (>= 0), ordered by key, then by rank here.
  virtual std::unique_ptr<wire> split(int color, int key) = 0;
  /// Between those that share this machine's memory.
  virtual std::unique_ptr<wire> split_by_node() = 0;

  virtual handle send(const blocks& from, int peer, int tag) = 0;

  virtual handle receive(const blocks& to, int peer, int tag) = 0;
  /// Takes a receive back that is not complete.
  virtual void cancel(handle receive) = 0;

  virtual std::optional<arrival> next_arrival() = 0;
  virtual handle receive(const arrival& which, const blocks& to) = 0;

  // Sends with the same arguments, over and over.
  virtual handle prepare_send(const blocks& from, int peer, int tag) = 0;
  virtual void start(handle prepared, std::size_t bytes) = 0;
  /// Lets go of what was prepared, sent or copied; it cannot be taken back.
  virtual void forget(handle prepared) = 0;

  /// Whether this is memory of a device, which copy() alone can read and write. Any thread may call.
  virtual bool on_device(const blocks&) const { return false; }
  /// Copies within this rank; `nothing` if that is done already, as it is where all is host memory.
  virtual handle copy(const blocks& from, const blocks& to) {
    comm::copy(from, to);
    return nothing;
  }

  /// Looks which of these are complete now, and appends them to `ends`.
  virtual void test(std::span<handle> under_way, std::vector<end>& ends) = 0;
};

/// The wire of a job of one rank, with or without MPI in the program. Who sends to itself needs no wire.
std::unique_ptr<wire> serial_wire();

}  // namespace plaq::comm
