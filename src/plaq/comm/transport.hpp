// What a communicator needs from below: bytes between ranks. MPI is one transport; a job of one rank is another.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plaq::comm {

enum class scalar { int32, int64, uint64, float32, float64 };
enum class operation { sum, min, max };

class wire;

/// One group of ranks. All calls block; all but send and receive are collective over the group.
/// Ranks and tags arrive checked. A failure below is a runtime_failure that names rank, call and peer.
class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::unique_ptr<transport> split(int color, int key) = 0;
  virtual std::unique_ptr<transport> split_by_node() = 0;
  virtual void barrier() = 0;
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  virtual void all_reduce(std::span<std::byte> data, scalar type, operation op) = 0;
  virtual void send(std::span<const std::byte> data, int peer, int tag) = 0;
  virtual void receive(std::span<std::byte> data, int peer, int tag) = 0;
  /// Messages that nobody waits for, apart from those of this transport; collective.
  virtual std::unique_ptr<wire> open_wire() = 0;
  /// Ends all other processes of the job, not only of this group, and perhaps this one.
  virtual void abort(int code) = 0;
};

/// The job of one rank.
std::unique_ptr<transport> serial_transport();

// From here: mpi.cpp where plaq is built with MPI, no_mpi.cpp where it is not.

/// A duplicate of MPI's world, or nothing where MPI is not built in. Initialises MPI if nobody has; MPI is then
/// finalised when the process exits. Buffers longer than `longest_message` bytes travel in pieces.
std::unique_ptr<transport> mpi_transport(std::size_t longest_message);

/// True if this process has MPI running, whoever initialised it.
bool mpi_is_running();
/// True if it was plaq that initialised it: then MPI ends when the process exits.
bool mpi_is_ours();

}  // namespace plaq::comm
