// Communicators that own: typed collectives over a group of ranks, with a serial twin.
#pragma once
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/comm/arithmetic.hpp"
#include "plaq/comm/transport.hpp"
#include "plaq/comm/wire.hpp"

namespace plaq::comm {

/// A contiguous range of values that travel as bytes: vectors, arrays, spans.
template <class R>
concept buffer = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                 std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;

/// A buffer that does not end with the call: a span, or a variable that owns its values.
template <class R>
concept lasting_buffer = buffer<R> && std::ranges::borrowed_range<R>;

/// What ranks 0, 1, ... contributed, one after the other; empty on ranks that did not ask for it.
template <class T>
struct gathered {
  std::vector<T> values;
  std::vector<std::size_t> offsets;  ///< [ranks + 1]
  std::span<const T> from(int rank) const {
    return std::span(values).subspan(offsets[rank], offsets[rank + 1] - offsets[rank]);
  }
};

/// One numbered part of a sum that is spread over ranks, e.g. a Markov chain's accumulator.
template <class T>
struct piece {
  std::int64_t index;
  std::span<const T> values;
};

/// User tags are 0 ... last_tag; those above belong to the collectives.
inline constexpr int last_tag = 30000;

/// A group of ranks, owned and move-only. Every call but send and receive is collective: all ranks of the group
/// make it, in the same order, with the same root and (except in the gathers) the same sizes. Errors: input_error
/// for a rank, tag or size that cannot be, runtime_failure with rank, call and peer for what MPI reports. Threads
/// may share a communicator if they call one at a time.
class communicator {
 public:
  /// All ranks of the job; collective. Initialises MPI on the first call, and only in a process that a launcher
  /// started or that has MPI running already; otherwise a world of one rank. Throws input_error if the world has
  /// not the size that the launcher promised. Buffers longer than `longest_message` bytes travel in pieces.
  static communicator world(std::size_t longest_message = std::size_t(1) << 30);

  explicit communicator(std::unique_ptr<transport> below) : below_(std::move(below)) {}

  int rank() const { return below_->rank(); }
  int size() const { return below_->size(); }

  /// The group of those that give the same color (>= 0), ordered by key, then by rank here.
  communicator split(int color, int key = 0) const;
  /// The group of those that share this machine's memory.
  communicator split_by_node() const { return communicator(below_->split_by_node()); }

  void barrier() const { below_->barrier(); }

  /// `values` of root on every rank.
  template <buffer R>
  void broadcast(R&& values, int root = 0) const {
    need_rank(root);
    below_->broadcast(std::as_writable_bytes(std::span(values)), root);
  }

  /// values[i] = op over ranks of values[i], the same bits on every rank. The order of a floating-point sum is
  /// MPI's, and changes with the number of ranks: see ordered_sum. Complex numbers have a sum only.
  template <buffer R>
    requires reducible<std::ranges::range_value_t<R>>
  void all_reduce(R&& values, operation op) const {
    using T = std::ranges::range_value_t<R>;
    if constexpr (!real_scalar<T>) need_sum(op);
    below_->all_reduce(std::as_writable_bytes(std::span(values)), scalar_of<T>(), op);
  }

  /// Contributions of any length, in rank order, on root.
  template <buffer R>
  auto gather(const R& mine, int root = 0) const {
    using T = std::ranges::range_value_t<R>;
    need_rank(root);
    const auto offsets = all_offsets(std::ranges::size(mine));
    gathered<T> all;
    if (rank() == root) all = {std::vector<T>(offsets.back()), offsets};
    gather_bytes(std::as_bytes(std::span(mine)), offsets, sizeof(T), std::as_writable_bytes(std::span(all.values)),
                 root);
    return all;
  }

  /// Contributions of any length, in rank order, on every rank.
  template <buffer R>
  auto all_gather(const R& mine) const {
    using T = std::ranges::range_value_t<R>;
    const auto offsets = all_offsets(std::ranges::size(mine));
    gathered<T> all{std::vector<T>(offsets.back()), offsets};
    gather_bytes(std::as_bytes(std::span(mine)), offsets, sizeof(T), std::as_writable_bytes(std::span(all.values)),
                 0);
    broadcast(all.values, 0);
    return all;
  }

  /// A message to another rank; may wait until that rank receives it.
  template <buffer R>
  void send(const R& values, int peer, int tag = 0) const {
    need_peer(peer, tag);
    below_->send(std::as_bytes(std::span(values)), peer, tag);
  }

  /// The next message of `peer` with this tag; it must have the size of `values`.
  template <buffer R>
  void receive(R&& values, int peer, int tag = 0) const {
    need_peer(peer, tag);
    below_->receive(std::as_writable_bytes(std::span(values)), peer, tag);
  }

  /// sum = ((x_a + x_b) + x_c) + ... over the pieces of all ranks in the order of their index a < b < c < ..., on
  /// every rank: the same bits as one loop on one rank, for any number of ranks and whoever holds which piece.
  /// The partial sum walks from owner to owner in segments, so neighbouring pieces belong on the same rank, and no
  /// rank holds more than its own pieces and the sum. Throws input_error, on all ranks, if there is no
  /// piece, an index appears twice or a length differs.
  template <reducible T>
  void ordered_sum(std::span<const piece<T>> mine, std::span<T> sum) const;

  /// What messengers and collectives are made of: messages that nobody waits for; collective.
  std::unique_ptr<wire> open_wire() const;

  /// Ends all processes of the job with this exit code.
  [[noreturn]] void abort(int code) const;

  /// What MPI is told of a T; complex numbers are two.
  template <reducible T>
  static constexpr scalar scalar_of() {
    if constexpr (std::same_as<T, std::int32_t>) return scalar::int32;
    if constexpr (std::same_as<T, std::int64_t>) return scalar::int64;
    if constexpr (std::same_as<T, std::uint64_t>) return scalar::uint64;
    if constexpr (std::same_as<T, float> || std::same_as<T, std::complex<float>>) return scalar::float32;
    if constexpr (std::same_as<T, double> || std::same_as<T, std::complex<double>>) return scalar::float64;
  }

 private:
  void need_rank(int root) const;
  void need_peer(int peer, int tag) const;
  static void need_sum(operation op);
  std::vector<std::size_t> all_offsets(std::size_t mine) const;
  void gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& offsets, std::size_t width,
                    std::span<std::byte> all, int root) const;

  std::unique_ptr<transport> below_;
};

/// The MPI that plaq was built with, e.g. "Open MPI v4.1.4"; empty without MPI.
std::string library_version();
/// The thread level that MPI granted: "serialized" or "multiple"; empty where MPI is not running.
std::string thread_level();
/// Whether that MPI, which is running, takes buffers in the memory of NVIDIA's GPUs; false where it does not say.
bool takes_device_memory();
/// Path of the launcher that belongs to that MPI, recorded when plaq was configured; empty without MPI.
std::string mpiexec();

}  // namespace plaq::comm
