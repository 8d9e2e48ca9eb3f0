// Collective operations by schedules of messages: hierarchical, any root, any number of ranks.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plaq/comm/collectives/operations.hpp"
#include "plaq/comm/schedules/algorithms.hpp"
#include "plaq/comm/schedules/tuning.hpp"
#include "plaq/comm/wire/buffer.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/comm/wire/open_messages.hpp"

namespace plaq::comm {

/// Contributions of ranks 0, 1, ..., one after the other; empty on ranks that do not receive them.
template <class T>
struct gathered {
  std::vector<T> values;
  std::vector<std::size_t> offsets;  ///< [ranks + 1]
  std::span<const T> from(int rank) const {
    return std::span(values).subspan(offsets[rank], offsets[rank + 1] - offsets[rank]);
  }
};

/// Numbered part of a sum over ranks, e.g. the accumulator of a Markov chain.
template <class T>
struct piece {
  std::int64_t index;
  std::span<const T> values;
};

/// Options of collective operations.
struct collective_options {
  /// Reductions combine in the fixed order of parts_of_sum.hpp: results depend on the contributions alone, not on
  /// arity, algorithm, segments, root or nodes. Scans use doubling, where the result of rank r depends on the
  /// contributions of ranks 0 ... r alone.
  bool fixed_order = false;
  /// Method in place of the tuning table's choice, for operations that have this algorithm; the same on all ranks.
  std::optional<method> by = {};
};

/// Collective operations among the ranks of a communicator, with separate messages. Every call is collective: all ranks
/// make it, in the same order, with the same sizes, root and operation; one thread or task at a time.
///
/// `broadcast` and the like return when the part of this rank is done; meanwhile the caller keeps its worker and
/// progresses other messages. `ibroadcast` and the like return a future at once; buffers belong to the operation until
/// it is ready, and any number may be in progress. Schedules and scratch memory are reused. Buffers of operations that
/// only move bytes may be memory of NVIDIA GPUs, complete when the call is made. Errors of MPI are runtime_failures
/// with rank, step and peer, in the future if there is one.
/// @pre of all calls: 0 <= root < size; lengths of buffers fit; values are combined in host memory only (input_error).
///
/// Op is `operation` or a function (T, T) -> T that is associative, and commutative unless the order is fixed.
/// Contributions of lower ranks come left.
class collectives {
 public:
  /// Makes collectives of the ranks of `over`. Collective. Throws input_error, on all ranks, if rank 0's tuning table
  /// is wrong.
  explicit collectives(const communicator& over, collective_options options = {});

  int rank() const { return active_->rank(); }
  int size() const { return active_->size(); }
  /// Map of the ranks to nodes.
  const node_map& ranks_by_node() const { return node_map_; }

  /// Returns when all ranks have called.
  void barrier() { run(make_barrier()); }
  task::future<void> ibarrier() { return start(make_barrier()); }

  /// Copies `values` of root to every rank.
  template <buffer R>
  void broadcast(R&& values, int root = 0) {
    run(make_rooted(collective::broadcast, root, {}, writable(values)));
  }
  template <lasting_buffer R>
  task::future<void> ibroadcast(R&& values, int root = 0) {
    return start(make_rooted(collective::broadcast, root, {}, writable(values)));
  }

  /// Computes result[i] = op over ranks of own[i] on root; `result` of other ranks is unused and may be empty.
  template <buffer R, buffer S, class Op>
  void reduce(const R& own, S&& result, Op op, int root = 0) {
    run(make_reduction(own, result, op, root));
  }
  template <lasting_buffer R, lasting_buffer S, class Op>
  task::future<void> ireduce(R&& own, S&& result, Op op, int root = 0) {
    return start(make_reduction(own, result, op, root));
  }

  /// Computes values[i] = op over ranks of values[i], bitwise identical on every rank.
  template <buffer R, class Op>
  void all_reduce(R&& values, Op op) {
    run(make_in_place(collective::all_reduce, values, op));
  }
  template <lasting_buffer R, class Op>
  task::future<void> iall_reduce(R&& values, Op op) {
    return start(make_in_place(collective::all_reduce, values, op));
  }

  /// Computes result = op over the pieces of all ranks in the fixed order of their numbers, on every rank: bitwise
  /// identical for any number of ranks. The pieces of this rank are contiguous in `own`, result.size() values each.
  /// They are numbered from rank to rank; a rank may have none.
  /// @pre The length of `own` is a multiple of result.size(), and some rank has a piece (input_error).
  template <buffer R, buffer S, class Op>
  void all_reduce_pieces(const R& own, S&& result, Op op) {
    using T = std::ranges::range_value_t<R>;
    const auto first = number_pieces(std::ranges::size(own), std::ranges::size(result));
    const auto output = writable(result);
    run({{collective::all_reduce, 0, output.size(), sizeof(T), true, first},
         readable(own),
         output,
         combination_of<T>(op)});
  }

  /// Computes sum = ((x_a + x_b) + x_c) + ... over the pieces of all ranks in the order of their index a < b < c < ...,
  /// on every rank: bitwise identical to a loop on one rank, for any number of ranks and any distribution of pieces.
  /// The partial sum travels from owner to owner in segments, so neighbouring pieces should be on the same rank, and no
  /// rank holds more than its own pieces and the sum.
  /// @pre There is a piece, indices are unique, and lengths are equal (input_error on all ranks).
  template <reducible T>
  void ordered_sum(std::span<const piece<T>> own, std::span<T> sum);

  /// Copies block r of `all` on root to `own` of rank r; `all` of other ranks may be empty.
  template <buffer R, buffer S>
  void scatter(const R& all, S&& own, int root = 0) {
    run(make_scatter(all, own, root));
  }
  template <lasting_buffer R, lasting_buffer S>
  task::future<void> iscatter(R&& all, S&& own, int root = 0) {
    return start(make_scatter(all, own, root));
  }

  /// Copies `own` of rank r to block r of `all` on root; `all` of other ranks may be empty.
  template <buffer R, buffer S>
  void gather(const R& own, S&& all, int root = 0) {
    run(make_gather(own, all, root));
  }
  template <lasting_buffer R, lasting_buffer S>
  task::future<void> igather(R&& own, S&& all, int root = 0) {
    return start(make_gather(own, all, root));
  }

  /// Copies `own` of rank r to block r of `all` on every rank.
  template <buffer R, buffer S>
  void all_gather(const R& own, S&& all) {
    run(make_all_gather(own, all));
  }
  template <lasting_buffer R, lasting_buffer S>
  task::future<void> iall_gather(R&& own, S&& all) {
    return start(make_all_gather(own, all));
  }

  /// Returns contributions of any length in the order of ranks on root, empty elsewhere. A waiting task releases its
  /// worker.
  template <buffer R>
  auto gather_any(const R& own, int root = 0) {
    return gather_lengths_and_blocks(collective::gather, own, root);
  }
  /// Returns contributions of any length in the order of ranks on every rank.
  template <buffer R>
  auto all_gather_any(const R& own) {
    return gather_lengths_and_blocks(collective::all_gather, own, rank());
  }

  /// Gathers contributions whose lengths all ranks know: `own` of rank r becomes the bytes first_byte[r] to
  /// first_byte[r + 1] of `all`, which is empty on ranks that do not receive it.
  task::future<void> igather_bytes(std::span<const std::byte> own, std::span<std::byte> all,
                                   const std::vector<std::size_t>& first_byte, int root) {
    return start(make_blocks_of_lengths(collective::gather, root, own, all, first_byte));
  }
  task::future<void> iall_gather_bytes(std::span<const std::byte> own, std::span<std::byte> all,
                                       const std::vector<std::size_t>& first_byte) {
    return start(make_blocks_of_lengths(collective::all_gather, 0, own, all, first_byte));
  }

  /// Copies block s of `own` on rank r to block r of `all` on rank s.
  template <buffer R, buffer S>
  void all_to_all(const R& own, S&& all) {
    run(make_all_to_all(own, all));
  }
  template <lasting_buffer R, lasting_buffer S>
  task::future<void> iall_to_all(R&& own, S&& all) {
    return start(make_all_to_all(own, all));
  }

  /// Computes values = op over ranks 0 ... this one.
  template <buffer R, class Op>
  void inclusive_scan(R&& values, Op op) {
    run(make_in_place(collective::inclusive_scan, values, op));
  }
  template <lasting_buffer R, class Op>
  task::future<void> iinclusive_scan(R&& values, Op op) {
    return start(make_in_place(collective::inclusive_scan, values, op));
  }

  /// Computes values = op over the ranks before this one; `first` on rank 0.
  template <buffer R, class Op>
  void exclusive_scan(R&& values, Op op, std::ranges::range_value_t<R> first = {}) {
    run(make_exclusive_scan(values, op, first));
  }
  template <lasting_buffer R, class Op>
  task::future<void> iexclusive_scan(R&& values, Op op, std::ranges::range_value_t<R> first = {}) {
    return start(make_exclusive_scan(values, op, first));
  }

  /// Waits for all futures, at most for `timeout`. Then it throws a runtime_failure with the calls in progress. Nothing
  /// is cancelled: the futures stay valid.
  template <class Rep, class Period>
  void wait_for(std::span<const task::future<void>> futures, std::chrono::duration<Rep, Period> timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (const auto& future : futures)
      if (future.wait_for(deadline - std::chrono::steady_clock::now()) != std::future_status::ready)
        throw_timeout(rank(), std::chrono::duration<double>(timeout).count(), in_progress());
  }
  /// Calls in progress on this rank, blocking ones too, and the ranks that they wait for, such as "all_reduce (receive
  /// from ranks 0, 3; send to rank 1), barrier (receive from rank 2)". From any thread.
  std::string in_progress() const { return active_->in_words(); }

  /// Method of a call with this request.
  method choice(const request& wanted) const;

 private:
  /// Makes collectives without a node map and tuning table.
  explicit collectives(std::unique_ptr<wire> over);

  struct call {
    request wanted;
    std::span<const std::byte> input;
    std::span<std::byte> output;
    combination combine = {};
    std::function<void()> at_end = {};
  };

  template <class R>
  static std::span<const std::byte> readable(const R& values) {
    return std::as_bytes(std::span(values));
  }
  template <class R>
  static std::span<std::byte> writable(R& values) {
    return std::as_writable_bytes(std::span(values));
  }

  static call make_barrier();
  /// Returns a call with blocks as long as `output`.
  static call make_rooted(collective what, int root, std::span<const std::byte> input, std::span<std::byte> output) {
    return {{what, root, output.size(), 1, false, {}}, input, output};
  }
  template <class R, class S, class Op>
  call make_reduction(const R& own, S& result, Op op, int root) const {
    using T = std::ranges::range_value_t<R>;
    if (rank() == root) need_length("reduce", std::ranges::size(result), std::ranges::size(own));
    const auto input = readable(own);
    return {{collective::reduce, root, input.size(), sizeof(T), options_.fixed_order, {}},
            input,
            writable(result),
            combination_of<T>(op)};
  }
  template <class R, class Op>
  call make_in_place(collective what, R& values, Op op) const {
    using T = std::ranges::range_value_t<R>;
    const auto output = writable(values);
    return {{what, 0, output.size(), sizeof(T), options_.fixed_order, {}}, {}, output, combination_of<T>(op)};
  }
  template <class R, class Op, class T>
  call make_exclusive_scan(R& values, Op op, T first) const {
    auto scan = make_in_place(collective::exclusive_scan, values, op);
    if (rank() == 0) scan.at_end = [to = std::span(values), first] { std::ranges::fill(to, first); };
    return scan;
  }
  template <class R, class S>
  call make_scatter(const R& all, S& own, int root) const {
    if (rank() == root) need_length("scatter", std::ranges::size(all), std::ranges::size(own) * size());
    return make_rooted(collective::scatter, root, readable(all), writable(own));
  }
  template <class R, class S>
  call make_gather(const R& own, S& all, int root) const {
    if (rank() == root) need_length("gather", std::ranges::size(all), std::ranges::size(own) * size());
    return make_blocks(collective::gather, root, readable(own), writable(all));
  }
  template <class R, class S>
  call make_all_gather(const R& own, S& all) const {
    need_length("all_gather", std::ranges::size(all), std::ranges::size(own) * size());
    return make_blocks(collective::all_gather, 0, readable(own), writable(all));
  }
  /// Returns a call with blocks as long as `input`.
  static call make_blocks(collective what, int root, std::span<const std::byte> input, std::span<std::byte> output) {
    return {{what, root, input.size(), 1, false, {}}, input, output};
  }
  template <class R, class S>
  call make_all_to_all(const R& own, S& all) const {
    need_length("all_to_all", std::ranges::size(all), std::ranges::size(own));
    need_length("all_to_all", std::ranges::size(own) / size() * size(), std::ranges::size(own));
    const auto input = readable(own);
    return {{collective::all_to_all, 0, input.size() / size(), 1, false, {}}, input, writable(all)};
  }

  call make_blocks_of_lengths(collective what, int root, std::span<const std::byte> own, std::span<std::byte> all,
                              const std::vector<std::size_t>& first_byte) const {
    auto blocks = make_blocks(what, root, own, all);
    blocks.wanted.bytes = first_byte.back() / std::size_t(size());
    blocks.wanted.first_byte = first_byte;
    return blocks;
  }

  /// Gathers lengths, then blocks, on root or on every rank.
  template <class R>
  auto gather_lengths_and_blocks(collective what, const R& own, int root) {
    using T = std::ranges::range_value_t<R>;
    gathered<T> all;
    const auto first_byte = first_bytes(std::ranges::size(own) * sizeof(T));
    if (rank() == root) {
      all.values.resize(first_byte.back() / sizeof(T));
      for (const auto b : first_byte) all.offsets.push_back(b / sizeof(T));
    }
    start(make_blocks_of_lengths(what, root, readable(own), writable(all.values), first_byte)).get();
    return all;
  }

  static void need_length(const char* call, std::size_t has, std::size_t needs);
  std::vector<std::size_t> first_bytes(std::size_t own);
  std::vector<std::int64_t> number_pieces(std::size_t values, std::size_t length);
  std::shared_ptr<const schedule> schedule_for(const request& wanted);
  operations::prepared_operation prepare(call&& what);
  void run(call what) { active_->run(prepare(std::move(what))); }
  task::future<void> start(call what) { return active_->start(prepare(std::move(what))); }

  collective_options options_;
  node_map node_map_;
  tuning tuned_;
  std::map<std::array<std::size_t, 5>, std::shared_ptr<const schedule>> schedules_;
  std::unique_ptr<operations> active_;
};

}  // namespace plaq::comm
