// Collective operations over messages of its own schedules: hierarchical, any root, any number of ranks.
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

struct collective_options {
  /// Reductions combine in the fixed order of parts_of_sum.hpp: their bits depend on the contributions alone, not
  /// on arity, algorithm, segments, root or nodes. Scans then go by doubling, where the result of rank r depends
  /// on the contributions of ranks 0 ... r alone.
  bool fixed_order = false;
  /// Instead of the tuning table's choice, for operations that have this algorithm; the same on all ranks.
  std::optional<method> by = {};
};

/// Collective operations among the ranks of a communicator; its messages meet no others. Every call is collective:
/// all ranks make it, in the same order, with the same sizes, root and operation; one thread or task at a time.
///
/// `broadcast` and the like return when this rank's part is done; meanwhile the caller keeps its worker and moves
/// whatever else is under way. `ibroadcast` and the like return a future for that at once; buffers belong to the
/// operation until it is ready, and any number may be under way. Schedules and scratch memory are kept for the
/// next call of the same kind. Buffers of operations that only move bytes may be memory of NVIDIA's GPUs, ready
/// when the call is made. Errors: input_error for a root, size or memory that cannot be, runtime_failure with
/// rank, step and peer for what MPI reports, in the future where there is one.
///
/// Op is `operation` or a function (T, T) -> T that is associative, and commutative unless the order is fixed.
/// Contributions of lower ranks come left.
class collectives {
 public:
  explicit collectives(const communicator& over, collective_options options = {});

  int rank() const { return under_way_->rank(); }
  int size() const { return under_way_->size(); }
  /// Ranks by the node that they share memory on.
  const seating& seats() const { return seats_; }

  /// Returns when all ranks have called.
  void barrier() { run(meeting()); }
  task::future<void> ibarrier() { return start(meeting()); }

  /// `values` of root on every rank.
  template <buffer R>
  void broadcast(R&& values, int root = 0) {
    run(of_root(collective::broadcast, root, {}, writable(values)));
  }
  template <lasting_buffer R>
  task::future<void> ibroadcast(R&& values, int root = 0) {
    return start(of_root(collective::broadcast, root, {}, writable(values)));
  }

  /// result[i] = op over ranks of mine[i], on root; other ranks' `result` is left alone and may be empty.
  template <buffer R, buffer S, class Op>
  void reduce(const R& mine, S&& result, Op op, int root = 0) {
    run(reduction(mine, result, op, root));
  }
  template <lasting_buffer R, lasting_buffer S, class Op>
  task::future<void> ireduce(R&& mine, S&& result, Op op, int root = 0) {
    return start(reduction(mine, result, op, root));
  }

  /// values[i] = op over ranks of values[i], the same bits on every rank.
  template <buffer R, class Op>
  void all_reduce(R&& values, Op op) {
    run(in_place(collective::all_reduce, values, op));
  }
  template <lasting_buffer R, class Op>
  task::future<void> iall_reduce(R&& values, Op op) {
    return start(in_place(collective::all_reduce, values, op));
  }

  /// result = op over the pieces of all ranks in the fixed order of their numbers, on every rank: the same bits
  /// for any number of ranks. The pieces of this rank lie one after the other in `mine`, result.size() values
  /// each; they are numbered first, first + 1, ..., and go on from rank to rank. A rank may have none. Throws
  /// input_error if the lengths do not fit or nobody has a piece.
  template <buffer R, buffer S, class Op>
  void all_reduce_pieces(const R& mine, S&& result, Op op) {
    using T = std::ranges::range_value_t<R>;
    const auto first = number_pieces(std::ranges::size(mine), std::ranges::size(result));
    const auto output = writable(result);
    run({{collective::all_reduce, 0, output.size(), sizeof(T), true, first},
         readable(mine),
         output,
         combination_of<T>(op)});
  }

  /// sum = ((x_a + x_b) + x_c) + ... over the pieces of all ranks in the order of their index a < b < c < ..., on
  /// every rank: the same bits as one loop on one rank, for any number of ranks and whoever holds which piece.
  /// The partial sum walks from owner to owner in segments, so neighbouring pieces belong on the same rank, and no
  /// rank holds more than its own pieces and the sum. Throws input_error, on all ranks, if there is no
  /// piece, an index appears twice or a length differs.
  template <reducible T>
  void ordered_sum(std::span<const piece<T>> mine, std::span<T> sum);

  /// Block r of root's `all` in `mine` of rank r; other ranks' `all` may be empty.
  template <buffer R, buffer S>
  void scatter(const R& all, S&& mine, int root = 0) {
    run(scattering(all, mine, root));
  }
  template <lasting_buffer R, lasting_buffer S>
  task::future<void> iscatter(R&& all, S&& mine, int root = 0) {
    return start(scattering(all, mine, root));
  }

  /// `mine` of rank r as block r of `all`, on root; other ranks' `all` may be empty.
  template <buffer R, buffer S>
  void gather(const R& mine, S&& all, int root = 0) {
    run(gathering(mine, all, root));
  }
  template <lasting_buffer R, lasting_buffer S>
  task::future<void> igather(R&& mine, S&& all, int root = 0) {
    return start(gathering(mine, all, root));
  }

  /// `mine` of rank r as block r of `all`, on every rank.
  template <buffer R, buffer S>
  void all_gather(const R& mine, S&& all) {
    run(gathering_everywhere(mine, all));
  }
  template <lasting_buffer R, lasting_buffer S>
  task::future<void> iall_gather(R&& mine, S&& all) {
    return start(gathering_everywhere(mine, all));
  }

  /// Contributions of any length, in rank order, on root; empty elsewhere. A task that waits gives its worker away.
  template <buffer R>
  auto gather_any(const R& mine, int root = 0) {
    return lengths_and_blocks(collective::gather, mine, root);
  }
  /// Contributions of any length, in rank order, on every rank.
  template <buffer R>
  auto all_gather_any(const R& mine) {
    return lengths_and_blocks(collective::all_gather, mine, rank());
  }

  /// As gather_any and all_gather_any, where all ranks know the lengths: `mine` of rank r becomes the bytes
  /// first_byte[r] to first_byte[r + 1] of `all`, which is empty where nobody looks at it.
  task::future<void> igather_bytes(std::span<const std::byte> mine, std::span<std::byte> all,
                                   const std::vector<std::size_t>& first_byte, int root) {
    return start(blocks_of(collective::gather, root, mine, all, first_byte));
  }
  task::future<void> iall_gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all,
                                       const std::vector<std::size_t>& first_byte) {
    return start(blocks_of(collective::all_gather, 0, mine, all, first_byte));
  }

  /// Block s of `mine` on rank r becomes block r of `all` on rank s.
  template <buffer R, buffer S>
  void all_to_all(const R& mine, S&& all) {
    run(turning(mine, all));
  }
  template <lasting_buffer R, lasting_buffer S>
  task::future<void> iall_to_all(R&& mine, S&& all) {
    return start(turning(mine, all));
  }

  /// values = op over ranks 0 ... this one.
  template <buffer R, class Op>
  void inclusive_scan(R&& values, Op op) {
    run(in_place(collective::inclusive_scan, values, op));
  }
  template <lasting_buffer R, class Op>
  task::future<void> iinclusive_scan(R&& values, Op op) {
    return start(in_place(collective::inclusive_scan, values, op));
  }

  /// values = op over the ranks before this one; on rank 0 they become `first`.
  template <buffer R, class Op>
  void exclusive_scan(R&& values, Op op, std::ranges::range_value_t<R> first = {}) {
    run(scan_of_those_before(values, op, first));
  }
  template <lasting_buffer R, class Op>
  task::future<void> iexclusive_scan(R&& values, Op op, std::ranges::range_value_t<R> first = {}) {
    return start(scan_of_those_before(values, op, first));
  }

  /// Waits for all of them together, but no longer than `patience`: then a runtime_failure says what is under way
  /// still, as `under_way` does. Nothing is given up: the futures stay valid.
  template <class Rep, class Period>
  void wait_for(std::span<const task::future<void>> futures, std::chrono::duration<Rep, Period> patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (const auto& future : futures)
      if (future.wait_for(deadline - std::chrono::steady_clock::now()) != std::future_status::ready)
        still_under_way(rank(), std::chrono::duration<double>(patience).count(), under_way());
  }
  /// What has not ended on this rank, calls that block included, and which ranks it waits for now, e.g.
  /// "all_reduce (receive from ranks 0, 3; send to rank 1), barrier (receive from rank 2)". A rank of these that
  /// waits itself says for whom; who says nothing has not called. From any thread.
  std::string under_way() const { return under_way_->in_words(); }

  /// What a call with this request would go by.
  method choice(const request& wanted) const;

 private:
  /// Of ranks that know nothing of each other.
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

  static call meeting();
  /// Of blocks as long as `output`.
  static call of_root(collective what, int root, std::span<const std::byte> input, std::span<std::byte> output) {
    return {{what, root, output.size(), 1, false, {}}, input, output};
  }
  template <class R, class S, class Op>
  call reduction(const R& mine, S& result, Op op, int root) const {
    using T = std::ranges::range_value_t<R>;
    if (rank() == root) need_length("reduce", std::ranges::size(result), std::ranges::size(mine));
    const auto input = readable(mine);
    return {{collective::reduce, root, input.size(), sizeof(T), options_.fixed_order, {}},
            input,
            writable(result),
            combination_of<T>(op)};
  }
  template <class R, class Op>
  call in_place(collective what, R& values, Op op) const {
    using T = std::ranges::range_value_t<R>;
    const auto output = writable(values);
    return {{what, 0, output.size(), sizeof(T), options_.fixed_order, {}}, {}, output, combination_of<T>(op)};
  }
  template <class R, class Op, class T>
  call scan_of_those_before(R& values, Op op, T first) const {
    auto scan = in_place(collective::exclusive_scan, values, op);
    if (rank() == 0) scan.at_end = [to = std::span(values), first] { std::ranges::fill(to, first); };
    return scan;
  }
  template <class R, class S>
  call scattering(const R& all, S& mine, int root) const {
    if (rank() == root) need_length("scatter", std::ranges::size(all), std::ranges::size(mine) * size());
    return of_root(collective::scatter, root, readable(all), writable(mine));
  }
  template <class R, class S>
  call gathering(const R& mine, S& all, int root) const {
    if (rank() == root) need_length("gather", std::ranges::size(all), std::ranges::size(mine) * size());
    return of_block(collective::gather, root, readable(mine), writable(all));
  }
  template <class R, class S>
  call gathering_everywhere(const R& mine, S& all) const {
    need_length("all_gather", std::ranges::size(all), std::ranges::size(mine) * size());
    return of_block(collective::all_gather, 0, readable(mine), writable(all));
  }
  /// Of blocks as long as `input`.
  static call of_block(collective what, int root, std::span<const std::byte> input, std::span<std::byte> output) {
    return {{what, root, input.size(), 1, false, {}}, input, output};
  }
  template <class R, class S>
  call turning(const R& mine, S& all) const {
    need_length("all_to_all", std::ranges::size(all), std::ranges::size(mine));
    need_length("all_to_all", std::ranges::size(mine) / size() * size(), std::ranges::size(mine));
    const auto input = readable(mine);
    return {{collective::all_to_all, 0, input.size() / size(), 1, false, {}}, input, writable(all)};
  }

  call blocks_of(collective what, int root, std::span<const std::byte> mine, std::span<std::byte> all,
                 const std::vector<std::size_t>& first_byte) const {
    auto blocks = of_block(what, root, mine, all);
    blocks.wanted.bytes = first_byte.back() / std::size_t(size());
    blocks.wanted.first_byte = first_byte;
    return blocks;
  }

  /// What `root` of a gather, or every rank, gets.
  template <class R>
  auto lengths_and_blocks(collective what, const R& mine, int root) {
    using T = std::ranges::range_value_t<R>;
    gathered<T> all;
    const auto first_byte = first_bytes(std::ranges::size(mine) * sizeof(T));
    if (rank() == root) {
      all.values.resize(first_byte.back() / sizeof(T));
      for (const auto b : first_byte) all.offsets.push_back(b / sizeof(T));
    }
    start(blocks_of(what, root, readable(mine), writable(all.values), first_byte)).get();
    return all;
  }

  static void need_length(const char* call, std::size_t has, std::size_t needs);
  std::vector<std::size_t> first_bytes(std::size_t mine);
  std::vector<std::int64_t> number_pieces(std::size_t values, std::size_t length);
  std::shared_ptr<const schedule> schedule_for(const request& wanted);
  operations::operation_to_do prepare(call&& what);
  void run(call what) { under_way_->run(prepare(std::move(what))); }
  task::future<void> start(call what) { return under_way_->start(prepare(std::move(what))); }

  collective_options options_;
  seating seats_;
  tuning tuned_;
  std::map<std::array<std::size_t, 5>, std::shared_ptr<const schedule>> schedules_;
  std::unique_ptr<operations> under_way_;
};

}  // namespace plaq::comm
