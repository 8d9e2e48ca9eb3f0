// Collective operations over messages of its own schedules: hierarchical, any root, any number of ranks.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plaq/comm/algorithms.hpp"
#include "plaq/comm/communicator.hpp"
#include "plaq/comm/engine.hpp"
#include "plaq/comm/tuning.hpp"

namespace plaq::comm {

struct collective_options {
  /// Reductions combine in the fixed order of parts_of_sum.hpp: their bits depend on the contributions alone, not
  /// on arity, algorithm, segments, root or nodes. Scans then go by doubling, where the result of rank r depends
  /// on the contributions of ranks 0 ... r alone.
  bool fixed_order = false;
  /// Instead of the tuning table's choice, for operations that have this algorithm; the same on all ranks.
  std::optional<method> by = {};
};

/// Collective operations among the ranks of a communicator; a group of its own, so its messages meet no others.
/// Every call is collective: all ranks make it, in the same order, with the same sizes, root and operation. Calls
/// block. Schedules and scratch memory are kept for the next call of the same kind. Errors: input_error for a
/// root or size that cannot be, runtime_failure with rank, call and peer for what MPI reports.
///
/// Op is `operation` or a function (T, T) -> T that is associative, and commutative unless the order is fixed.
/// Contributions of lower ranks come left.
class collectives {
 public:
  explicit collectives(const communicator& over, collective_options options = {});

  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }
  /// Ranks by the node that they share memory on.
  const layout& line() const { return line_; }

  /// Returns when all ranks have called.
  void barrier();

  /// `values` of root on every rank.
  template <buffer R>
  void broadcast(R&& values, int root = 0) {
    const auto bytes = writable(values);
    run({collective::broadcast, root, bytes.size(), 1, false, {}}, {}, bytes, {});
  }

  /// result[i] = op over ranks of mine[i], on root; other ranks' `result` is left alone and may be empty.
  template <buffer R, buffer S, class Op>
  void reduce(const R& mine, S&& result, Op op, int root = 0) {
    using T = std::ranges::range_value_t<R>;
    if (rank() == root) need_length("reduce", std::ranges::size(result), std::ranges::size(mine));
    run(summed<T>(collective::reduce, root, std::ranges::size(mine)), readable(mine), writable(result),
        combination_of<T>(op));
  }

  /// values[i] = op over ranks of values[i], the same bits on every rank.
  template <buffer R, class Op>
  void all_reduce(R&& values, Op op) {
    using T = std::ranges::range_value_t<R>;
    run(summed<T>(collective::all_reduce, 0, std::ranges::size(values)), {}, writable(values),
        combination_of<T>(op));
  }

  /// result = op over the pieces of all ranks in the fixed order of their numbers, on every rank: the same bits
  /// for any number of ranks. The pieces of this rank lie one after the other in `mine`, result.size() values
  /// each; they are numbered first, first + 1, ..., and go on from rank to rank. A rank may have none. Throws
  /// input_error if the lengths do not fit or nobody has a piece.
  template <buffer R, buffer S, class Op>
  void all_reduce_pieces(const R& mine, S&& result, Op op) {
    using T = std::ranges::range_value_t<R>;
    const auto first = number_pieces(std::ranges::size(mine), std::ranges::size(result));
    auto wanted = summed<T>(collective::all_reduce, 0, std::ranges::size(result));
    wanted.fixed_order = true;
    wanted.first_piece = first;
    run(wanted, readable(mine), writable(result), combination_of<T>(op));
  }

  /// Block r of root's `all` in `mine` of rank r; other ranks' `all` may be empty.
  template <buffer R, buffer S>
  void scatter(const R& all, S&& mine, int root = 0) {
    if (rank() == root) need_length("scatter", std::ranges::size(all), std::ranges::size(mine) * size());
    run(moved(collective::scatter, root, writable(mine).size()), readable(all), writable(mine), {});
  }

  /// `mine` of rank r as block r of `all`, on root; other ranks' `all` may be empty.
  template <buffer R, buffer S>
  void gather(const R& mine, S&& all, int root = 0) {
    if (rank() == root) need_length("gather", std::ranges::size(all), std::ranges::size(mine) * size());
    run(moved(collective::gather, root, readable(mine).size()), readable(mine), writable(all), {});
  }

  /// `mine` of rank r as block r of `all`, on every rank.
  template <buffer R, buffer S>
  void all_gather(const R& mine, S&& all) {
    need_length("all_gather", std::ranges::size(all), std::ranges::size(mine) * size());
    run(moved(collective::all_gather, 0, readable(mine).size()), readable(mine), writable(all), {});
  }

  /// Block s of `mine` on rank r becomes block r of `all` on rank s.
  template <buffer R, buffer S>
  void all_to_all(const R& mine, S&& all) {
    need_length("all_to_all", std::ranges::size(all), std::ranges::size(mine));
    need_length("all_to_all", std::ranges::size(mine) / size() * size(), std::ranges::size(mine));
    run(moved(collective::all_to_all, 0, readable(mine).size() / size()), readable(mine), writable(all), {});
  }

  /// values = op over ranks 0 ... this one.
  template <buffer R, class Op>
  void inclusive_scan(R&& values, Op op) {
    using T = std::ranges::range_value_t<R>;
    run(summed<T>(collective::inclusive_scan, 0, std::ranges::size(values)), {}, writable(values),
        combination_of<T>(op));
  }

  /// values = op over the ranks before this one; on rank 0 they become `first`.
  template <buffer R, class Op>
  void exclusive_scan(R&& values, Op op, std::ranges::range_value_t<R> first = {}) {
    using T = std::ranges::range_value_t<R>;
    run(summed<T>(collective::exclusive_scan, 0, std::ranges::size(values)), {}, writable(values),
        combination_of<T>(op));
    if (rank() == 0) std::ranges::fill(values, first);
  }

  /// What a call with this request would go by.
  method choice(const request& wanted) const;

 private:
  template <class R>
  static std::span<const std::byte> readable(const R& values) {
    return std::as_bytes(std::span(values));
  }
  template <class R>
  static std::span<std::byte> writable(R& values) {
    return std::as_writable_bytes(std::span(values));
  }
  template <class T>
  request summed(collective what, int root, std::size_t n) const {
    return {what, root, n * sizeof(T), sizeof(T), options_.fixed_order, {}};
  }
  static request moved(collective what, int root, std::size_t bytes) { return {what, root, bytes, 1, false, {}}; }

  static void need_length(const char* call, std::size_t has, std::size_t needs);
  std::vector<std::int64_t> number_pieces(std::size_t values, std::size_t length) const;
  const schedule& schedule_for(const request& wanted);
  void run(const request& wanted, std::span<const std::byte> input, std::span<std::byte> output,
           const combination& combine);

  communicator group_;
  collective_options options_;
  layout line_;
  tuning tuned_;
  std::map<std::array<std::size_t, 5>, schedule> schedules_;
  std::unique_ptr<messages> messages_;
  std::vector<std::byte> scratch_;
  engine engine_;
  schedule once_;  // of pieces
  int generation_ = 0;
};

}  // namespace plaq::comm
