// Wire: nonblocking messages, which futures and schedules are made of. MPI is one wire; a job of one rank has one
// without messages.
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
/// Peer of a receive from any rank, for messengers; not for wires. Differs from all numbers that are mistakes.
inline constexpr int any_rank = std::numeric_limits<int>::min();

/// Bytes of a message: `count` blocks of `block` bytes that begin `stride` bytes apart.
struct blocks {
  std::byte* data = nullptr;
  std::size_t block = 0;
  std::size_t count = 1;
  std::size_t stride = 0;

  std::size_t bytes() const { return block * count; }
  bool contiguous() const { return count <= 1 || stride == block; }
};

/// Calls run(to, from, bytes) for each run that is contiguous on both sides, in the order of the blocks. @pre Both
/// sides have the same number of bytes.
template <class Run>
void each_run(const blocks& from, const blocks& to, Run&& run) {
  // Both are cut at the end of a block of either.
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

/// Copies bytes in the order of the blocks, in host memory.
void copy(const blocks& from, const blocks& to);

/// Nonblocking messages between ranks. One thread at a time calls. Buffers are unchanged until the handle of the
/// message is complete. Messages from one rank to another with one tag arrive in the order in which they were sent. A
/// failure is a runtime_failure without rank and peer, which the caller adds.
///
/// A caller that knows its messages posts receives, as schedules do; another takes arrivals off the queue and matches
/// them, as messengers do. One wire serves one of the two: an arrival may belong to a receive that is about to be
/// posted.
class wire {
 public:
  /// Message or copy in progress.
  using handle = std::uintptr_t;
  /// No handle.
  static constexpr handle nothing = 0;

  /// Message that has arrived and was taken off the queue, so that only receive() gets it.
  struct arrival {
    int peer = 0;
    int tag = 0;
    std::size_t bytes = 0;
    handle message = 0;
    std::uint32_t number = 0;  ///< among those of the peer, by messengers
  };
  /// Completion of handle number `index`.
  struct end {
    std::size_t index;
    std::size_t bytes;  ///< of a receive
    std::string error;  ///< empty on success
  };

  wire() = default;
  wire(const wire&) = delete;
  virtual ~wire() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Number of this wire for traces, the same on all of its ranks.
  virtual std::uint32_t number() const { return 0; }

  /// Makes a wire between the same ranks, whose messages are separate. Collective, as are the two below; all three wait
  /// for the other ranks.
  virtual std::unique_ptr<wire> duplicate() = 0;
  /// Makes a wire between the ranks that give the same color (>= 0), ordered by key, then by rank here.
  virtual std::unique_ptr<wire> split(int color, int key) = 0;
  /// Makes a wire between the ranks that share the memory of this machine.
  virtual std::unique_ptr<wire> split_by_node() = 0;

  virtual handle send(const blocks& from, int peer, int tag) = 0;

  virtual handle receive(const blocks& to, int peer, int tag) = 0;
  /// Cancels a receive that is not complete.
  virtual void cancel(handle receive) = 0;

  virtual std::optional<arrival> next_arrival() = 0;
  virtual handle receive(const arrival& which, const blocks& to) = 0;

  // Persistent sends.
  virtual handle prepare_send(const blocks& from, int peer, int tag) = 0;
  virtual void start(handle prepared, std::size_t bytes) = 0;
  /// Releases what was prepared, sent or copied, without cancelling it.
  virtual void forget(handle prepared) = 0;

  /// Whether this is device memory, which only copy() can read and write. Any thread may call.
  virtual bool on_device(const blocks&) const { return false; }
  /// Copies within this rank. Returns `nothing` if the copy is complete, as it is in host memory.
  virtual handle copy(const blocks& from, const blocks& to) {
    comm::copy(from, to);
    return nothing;
  }

  /// Tests which of these are complete, and appends them to `ends`.
  virtual void test(std::span<handle> in_progress, std::vector<end>& ends) = 0;
};

/// Makes the wire of a job of one rank, with or without MPI in the program. Messages to itself need no wire.
std::unique_ptr<wire> serial_wire();

}  // namespace plaq::comm
