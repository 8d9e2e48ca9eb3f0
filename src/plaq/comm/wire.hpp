// What messages as futures need from below: messages that nobody waits for. MPI is one wire; a job of one rank has
// none but needs the type.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plaq/comm/transport.hpp"

namespace plaq::comm {

/// The bytes of a message: `count` blocks of `block` bytes that begin `stride` bytes apart.
struct blocks {
  std::byte* data = nullptr;
  std::size_t block = 0;
  std::size_t count = 1;
  std::size_t stride = 0;

  std::size_t bytes() const { return block * count; }
  bool contiguous() const { return count <= 1 || stride == block; }
};

/// to = from, byte by byte in the order of the blocks; both have the same number of bytes.
void copy(const blocks& from, const blocks& to);

/// Ranks that send each other messages without waiting. One thread at a time calls. Buffers stay as they are until
/// the handle of the message is complete. A failure is a runtime_failure without rank and peer: the caller has
/// them.
class wire {
 public:
  /// Something under way, as the wire knows it.
  using handle = std::uintptr_t;
  /// Nothing: complete at once.
  static constexpr handle complete = 0;

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
    std::string error;  ///< empty if all went well
  };

  wire() = default;
  wire(const wire&) = delete;
  virtual ~wire() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual handle send(const blocks& from, int peer, int tag) = 0;
  virtual std::optional<arrival> next_arrival() = 0;
  virtual handle receive(const arrival& which, const blocks& to) = 0;

  // Sends with the same arguments, over and over.
  virtual handle prepare_send(const blocks& from, int peer, int tag) = 0;
  /// True if it is complete already.
  virtual bool start(handle& prepared, std::size_t bytes) = 0;
  virtual void forget(handle prepared) = 0;

  // Collective over the ranks, all in the same order.
  virtual handle barrier() = 0;
  virtual handle broadcast(std::span<std::byte> data, int root) = 0;
  virtual handle all_reduce(std::span<std::byte> data, scalar type, operation op) = 0;
  virtual handle all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual handle all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) = 0;

  /// Looks which of these are complete now, and appends them to `ends`.
  virtual void test(std::span<handle> under_way, std::vector<end>& ends) = 0;
};

/// The wire of a job of one rank: collectives are copies. Who sends to itself needs no wire.
std::unique_ptr<wire> serial_wire();

}  // namespace plaq::comm
