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
#include <utility>
#include <vector>

#include "plaq/comm/collectives/blocks_of_ranks.hpp"
#include "plaq/comm/collectives/collective_calls.hpp"
#include "plaq/comm/collectives/explained_calls.hpp"
#include "plaq/comm/collectives/group_layout.hpp"
#include "plaq/comm/collectives/operations.hpp"
#include "plaq/comm/schedules/algorithms.hpp"
#include "plaq/comm/schedules/tuning.hpp"
#include "plaq/comm/wire/buffer.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/comm/wire/open_messages.hpp"

namespace plaq::comm {

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
class collectives : private explained_calls, private collective_calls {
 public:
  using explained_calls::all_to_all, explained_calls::iall_to_all;
  using explained_calls::broadcast, explained_calls::ibroadcast, explained_calls::scatter, explained_calls::iscatter;
  using explained_calls::exclusive_scan, explained_calls::inclusive_scan, explained_calls::reduce_scatter;
  using explained_calls::gather, explained_calls::igather, explained_calls::all_gather, explained_calls::iall_gather;
  using explained_calls::reduce, explained_calls::ireduce, explained_calls::all_reduce, explained_calls::iall_reduce;

  /// Makes collectives of the ranks of `over`. Collective: a communicator of MPI and messages of log2(ranks) rounds;
  /// the first of a communicator also finds the nodes. Throws input_error, on all ranks, if rank 0's tuning table is
  /// wrong.
  explicit collectives(const communicator& over, collective_options options = {});

  int rank() const { return collective_calls::rank(); }
  int size() const { return collective_calls::size(); }
  /// Map of the ranks to nodes.
  const node_map& ranks_by_node() const { return layout_->nodes; }

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
  template <buffer R, buffer S, combines_values_of<R> Op>
  void reduce(const R& own, S&& result, Op op, int root = 0) {
    run(make_reduction(own, result, op, root));
  }
  template <lasting_buffer R, lasting_buffer S, combines_values_of<R> Op>
  task::future<void> ireduce(R&& own, S&& result, Op op, int root = 0) {
    return start(make_reduction(own, result, op, root));
  }

  /// Computes values[i] = op over ranks of values[i], bitwise identical on every rank.
  template <buffer R, combines_values_of<R> Op>
  void all_reduce(R&& values, Op op) {
    run(make_in_place(collective::all_reduce, values, op));
  }
  template <lasting_buffer R, combines_values_of<R> Op>
  task::future<void> iall_reduce(R&& values, Op op) {
    return start(make_in_place(collective::all_reduce, values, op));
  }

  /// Computes result = op over the pieces of all ranks in the fixed order of their numbers, on every rank: bitwise
  /// identical for any number of ranks. The pieces of this rank are contiguous in `own`, result.size() values each.
  /// They are numbered from rank to rank; a rank may have none.
  /// @pre The length of `own` is a multiple of result.size(), and some rank has a piece (input_error).
  template <buffer R, buffer S, combines_values_of<R> Op>
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

  /// Copies the blocks of `all` on root, counts[r] values for rank r, and returns that of this rank. `all` and `counts`
  /// of other ranks are unused. A waiting task releases its worker.
  template <buffer R>
  auto scatter_any(const R& all, const std::vector<std::size_t>& counts, int root = 0) {
    using T = std::ranges::range_value_t<R>;
    std::vector<std::size_t> first_byte(std::size_t(size()) + 1, 0);
    if (rank() == root) {
      first_byte = first_bytes_of("scatter_any", counts, sizeof(T));
      need_length("scatter_any", std::ranges::size(all), first_byte.back() / sizeof(T));
    }
    ibroadcast(first_byte, root).get();
    std::vector<T> own((first_byte[std::size_t(rank()) + 1] - first_byte[std::size_t(rank())]) / sizeof(T));
    iscatter_bytes(readable(all), writable(own), first_byte, root).get();
    return own;
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

  /// Scatters blocks whose lengths all ranks know: the bytes first_byte[r] to first_byte[r + 1] of `all` on root become
  /// `own` of rank r.
  task::future<void> iscatter_bytes(std::span<const std::byte> all, std::span<std::byte> own,
                                    const std::vector<std::size_t>& first_byte, int root) {
    return start(make_blocks_of_lengths(collective::scatter, root, all, own, first_byte));
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

  /// Copies blocks of any length: the own_counts[s] values for rank s, which lie one after the other in `own`, become
  /// the all_counts[r] values from rank r in `all`.
  template <buffer R, buffer S>
  void all_to_all(const R& own, const std::vector<std::size_t>& own_counts, S&& all,
                  const std::vector<std::size_t>& all_counts) {
    run(make_uneven_all_to_all(own, own_counts, all, all_counts));
  }
  template <lasting_buffer R, lasting_buffer S>
  task::future<void> iall_to_all(R&& own, const std::vector<std::size_t>& own_counts, S&& all,
                                 const std::vector<std::size_t>& all_counts) {
    return start(make_uneven_all_to_all(own, own_counts, all, all_counts));
  }
  /// Returns the blocks of all ranks for this one; counts[s] values of `own` are for rank s. Lengths are exchanged
  /// first. A waiting task releases its worker.
  template <buffer R>
  auto all_to_all_any(const R& own, const std::vector<std::size_t>& counts) {
    using T = std::ranges::range_value_t<R>;
    need_length("all_to_all_any", counts.size(), std::size_t(size()));
    std::vector<std::size_t> coming(counts.size());
    iall_to_all(counts, coming).get();
    gathered<T> all;
    all.offsets.push_back(0);
    for (const auto n : coming) all.offsets.push_back(all.offsets.back() + n);
    all.values.resize(all.offsets.back());
    iall_to_all(std::span(own), counts, all.values, coming).get();
    return all;
  }

  /// Sends the blocks of `own`, one after the other, to the ranks of `to`, and receives the blocks of `all` from the
  /// ranks of `from`. Both sides know the lengths. A rank may be named several times, as the neighbour to the left and
  /// to the right: the i-th block for it is the i-th that it receives from this rank.
  template <buffer R, buffer S>
  void exchange(const R& own, const std::vector<neighbour>& to, S&& all, const std::vector<neighbour>& from) {
    run(make_neighbour_exchange(own, to, all, from));
  }
  template <lasting_buffer R, lasting_buffer S>
  task::future<void> iexchange(R&& own, const std::vector<neighbour>& to, S&& all, const std::vector<neighbour>& from) {
    return start(make_neighbour_exchange(own, to, all, from));
  }
  /// Exchange or uneven all_to_all that is described once and done often, as MPI's persistent collectives: its schedule
  /// is made once. The `collectives` and the buffers outlive it. @pre The future of the last start is ready.
  class prepared_call {
   public:
    void run() { of_->run(what_); }
    task::future<void> start() { return of_->start(what_); }

   private:
    friend collectives;
    prepared_call(collectives& of, described_call what) : of_(&of), what_(std::move(what)) {}
    collectives* of_;
    described_call what_;
  };
  template <lasting_buffer R, lasting_buffer S>
  prepared_call prepare_exchange(R&& own, const std::vector<neighbour>& to, S&& all,
                                 const std::vector<neighbour>& from) {
    return {*this, make_neighbour_exchange(own, to, all, from)};
  }
  template <lasting_buffer R, lasting_buffer S>
  prepared_call prepare_all_to_all(R&& own, const std::vector<std::size_t>& own_counts, S&& all,
                                   const std::vector<std::size_t>& all_counts) {
    return {*this, make_uneven_all_to_all(own, own_counts, all, all_counts)};
  }

  /// Sends the blocks of `own`, one after the other, to the ranks of `to`, and returns the blocks that are for this
  /// rank, whose senders it need not know. Senders and lengths travel in log2(ranks) rounds, blocks directly; no rank
  /// keeps numbers of all ranks. A waiting task releases its worker.
  template <buffer R>
  auto exchange_any(const R& own, const std::vector<neighbour>& to) {
    need_length("exchange_any", std::ranges::size(own), total_of(to));
    arrivals<std::ranges::range_value_t<R>> all;
    all.from = senders_of(to);
    all.values.resize(total_of(all.from));
    iexchange(std::span(own), to, all.values, all.from).get();
    return all;
  }

  /// Computes block[i] = op over ranks of their values i for this rank. The values for rank 0, 1, ... lie one after the
  /// other in `own`: block.size() each, or counts[r] for rank r, with the same counts on all ranks.
  template <buffer R, buffer S, combines_values_of<R> Op>
  void reduce_scatter(const R& own, S&& block, Op op) {
    run(make_reduce_scatter(own, block, op));
  }
  template <buffer R, buffer S, combines_values_of<R> Op>
  void reduce_scatter(const R& own, const std::vector<std::size_t>& counts, S&& block, Op op) {
    run(make_uneven_reduce_scatter(own, counts, block, op));
  }
  template <lasting_buffer R, lasting_buffer S, combines_values_of<R> Op>
  task::future<void> ireduce_scatter(R&& own, S&& block, Op op) {
    return start(make_reduce_scatter(own, block, op));
  }
  template <lasting_buffer R, lasting_buffer S, combines_values_of<R> Op>
  task::future<void> ireduce_scatter(R&& own, const std::vector<std::size_t>& counts, S&& block, Op op) {
    return start(make_uneven_reduce_scatter(own, counts, block, op));
  }

  /// Computes values = op over ranks 0 ... this one.
  template <buffer R, combines_values_of<R> Op>
  void inclusive_scan(R&& values, Op op) {
    run(make_in_place(collective::inclusive_scan, values, op));
  }
  template <lasting_buffer R, combines_values_of<R> Op>
  task::future<void> iinclusive_scan(R&& values, Op op) {
    return start(make_in_place(collective::inclusive_scan, values, op));
  }

  /// Computes values = op over the ranks before this one; `first` on rank 0.
  template <buffer R, combines_values_of<R> Op>
  void exclusive_scan(R&& values, Op op, std::ranges::range_value_t<R> first = {}) {
    run(make_exclusive_scan(values, op, first));
  }
  template <lasting_buffer R, combines_values_of<R> Op>
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
  /// Makes collectives without a layout and tuning table.
  explicit collectives(std::unique_ptr<wire> over);
  /// Returns the layout that all ranks agree on: by two all_reduces, and gathers only where it is irregular.
  std::shared_ptr<const group_layout> agree_on_layout(std::unique_ptr<wire> node_wire);
  /// Takes the tuning table of rank 0, since the files of two machines may differ. Returns a number for the group, and
  /// whether the layout is older than the ranks of the world. If rank 0's file is wrong, all ranks throw its error.
  std::pair<std::int64_t, bool> agree_on_tuning();

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

  std::vector<std::size_t> first_bytes(std::size_t own);
  /// Returns the blocks that other ranks have for this one, by rank, when all have given theirs. Collective.
  std::vector<neighbour> senders_of(const std::vector<neighbour>& to);
  std::vector<std::int64_t> number_pieces(std::size_t values, std::size_t length);
  std::shared_ptr<const schedule> schedule_for(const request& wanted);
  operations::prepared_operation prepare(described_call&& what);
  void run(described_call what) { active_->run(prepare(std::move(what))); }
  task::future<void> start(described_call what) { return active_->start(prepare(std::move(what))); }

  std::optional<method> by_;
  std::shared_ptr<const group_layout> layout_;
  tuning tuned_;
  std::map<std::array<std::size_t, 5>, std::shared_ptr<const schedule>> schedules_;
  std::unique_ptr<operations> active_;
};

}  // namespace plaq::comm
