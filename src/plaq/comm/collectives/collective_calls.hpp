// Calls of `collectives` as data, before their schedules: what is asked for, the buffers, and how values combine.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/comm/collectives/arithmetic.hpp"
#include "plaq/comm/schedules/algorithms.hpp"
#include "plaq/comm/schedules/exchange.hpp"
#include "plaq/comm/schedules/schedule.hpp"

namespace plaq::comm {

/// Call of a collective operation on this rank.
struct described_call {
  request wanted;
  std::span<const std::byte> input;
  std::span<std::byte> output;
  combination combine = {};
  std::function<void()> at_end = {};
  std::vector<std::size_t> first_byte = {};   ///< that `wanted` refers to, if this call made it
  std::shared_ptr<const schedule> todo = {};  ///< of an exchange and an uneven all_to_all
  bool of_neighbours = false;
};

/// Makes the calls of a rank, and checks the lengths of their buffers (input_error).
class collective_calls {
 protected:
  collective_calls(int rank, int size) : rank_(rank), size_(size) {}

  int rank() const { return rank_; }
  int size() const { return size_; }

  template <class R>
  static std::span<const std::byte> readable(const R& values) {
    return std::as_bytes(std::span(values));
  }
  template <class R>
  static std::span<std::byte> writable(R& values) {
    return std::as_writable_bytes(std::span(values));
  }

  static described_call make_barrier();
  /// Returns a call with blocks as long as `output`.
  static described_call make_rooted(collective what, int root, std::span<const std::byte> input,
                                    std::span<std::byte> output) {
    return {{what, root, output.size(), 1, false, {}}, input, output};
  }
  template <class R, class S, class Op>
  described_call make_reduction(const R& own, S& result, Op op, int root) const {
    using T = std::ranges::range_value_t<R>;
    if (rank() == root) need_length("reduce", std::ranges::size(result), std::ranges::size(own));
    const auto input = readable(own);
    return {{collective::reduce, root, input.size(), sizeof(T), fixed_order_, {}},
            input,
            writable(result),
            combination_of<T>(op)};
  }
  template <class R, class Op>
  described_call make_in_place(collective what, R& values, Op op) const {
    using T = std::ranges::range_value_t<R>;
    const auto output = writable(values);
    return {{what, 0, output.size(), sizeof(T), fixed_order_, {}}, {}, output, combination_of<T>(op)};
  }
  template <class R, class Op, class T>
  described_call make_exclusive_scan(R& values, Op op, T first) const {
    auto scan = make_in_place(collective::exclusive_scan, values, op);
    if (rank() == 0) scan.at_end = [to = std::span(values), first] { std::ranges::fill(to, first); };
    return scan;
  }
  template <class R, class S>
  described_call make_scatter(const R& all, S& own, int root) const {
    if (rank() == root) need_length("scatter", std::ranges::size(all), std::ranges::size(own) * size());
    return make_rooted(collective::scatter, root, readable(all), writable(own));
  }
  template <class R, class S>
  described_call make_gather(const R& own, S& all, int root) const {
    if (rank() == root) need_length("gather", std::ranges::size(all), std::ranges::size(own) * size());
    return make_blocks(collective::gather, root, readable(own), writable(all));
  }
  template <class R, class S>
  described_call make_all_gather(const R& own, S& all) const {
    need_length("all_gather", std::ranges::size(all), std::ranges::size(own) * size());
    return make_blocks(collective::all_gather, 0, readable(own), writable(all));
  }
  /// Returns a call with blocks as long as `input`.
  static described_call make_blocks(collective what, int root, std::span<const std::byte> input,
                                    std::span<std::byte> output) {
    return {{what, root, input.size(), 1, false, {}}, input, output};
  }
  template <class R, class S>
  described_call make_all_to_all(const R& own, S& all) const {
    need_length("all_to_all", std::ranges::size(all), std::ranges::size(own));
    need_length("all_to_all", std::ranges::size(own) / size() * size(), std::ranges::size(own));
    const auto input = readable(own);
    return {{collective::all_to_all, 0, input.size() / size(), 1, false, {}}, input, writable(all)};
  }

  template <class R, class S>
  described_call make_uneven_all_to_all(const R& own, const std::vector<std::size_t>& own_counts, S& all,
                                        const std::vector<std::size_t>& all_counts) const {
    return make_exchange_call("all_to_all", own, blocks_for_all(own_counts), all, blocks_for_all(all_counts));
  }
  template <class R, class S>
  described_call make_neighbour_exchange(const R& own, const std::vector<neighbour>& to, S& all,
                                         const std::vector<neighbour>& from) const {
    auto exchange = make_exchange_call("exchange", own, to, all, from);
    exchange.of_neighbours = true;
    return exchange;
  }
  template <class R, class S>
  described_call make_exchange_call(const char* name, const R& own, const std::vector<neighbour>& to, S& all,
                                    const std::vector<neighbour>& from) const {
    using T = std::ranges::range_value_t<R>;
    static_assert(std::is_same_v<T, std::ranges::range_value_t<S>>, "both buffers of an exchange have the same type");
    need_length(name, std::ranges::size(own), total_of(to));
    need_length(name, std::ranges::size(all), total_of(from));
    described_call exchange{{collective::all_to_all, 0, 0, sizeof(T), false, {}}, readable(own), writable(all)};
    exchange.todo = exchange_schedule(to, from, sizeof(T));
    return exchange;
  }
  template <class R, class S, class Op>
  described_call make_reduce_scatter(const R& own, S& block, Op op) const {
    need_length("reduce_scatter", std::ranges::size(own), std::ranges::size(block) * size());
    using T = std::ranges::range_value_t<R>;
    const auto output = writable(block);
    return {{collective::reduce_scatter, 0, output.size(), sizeof(T), fixed_order_, {}},
            readable(own),
            output,
            combination_of<T>(op)};
  }
  template <class R, class S, class Op>
  described_call make_uneven_reduce_scatter(const R& own, const std::vector<std::size_t>& counts, S& block,
                                            Op op) const {
    using T = std::ranges::range_value_t<R>;
    auto first_byte = first_bytes_of("reduce_scatter", counts, sizeof(T));
    need_length("reduce_scatter", std::ranges::size(own), first_byte.back() / sizeof(T));
    need_length("reduce_scatter", std::ranges::size(block), counts[std::size_t(rank())]);
    const std::size_t average = first_byte.back() / sizeof(T) / std::size_t(size()) * sizeof(T);
    described_call reduction{{collective::reduce_scatter, 0, average, sizeof(T), fixed_order_, {}},
                             readable(own),
                             writable(block),
                             combination_of<T>(op)};
    reduction.first_byte = std::move(first_byte);
    reduction.wanted.first_byte = reduction.first_byte;
    return reduction;
  }

  described_call make_blocks_of_lengths(collective what, int root, std::span<const std::byte> own,
                                        std::span<std::byte> all, const std::vector<std::size_t>& first_byte) const {
    auto blocks = make_blocks(what, root, own, all);
    blocks.wanted.bytes = first_byte.back() / std::size_t(size());
    blocks.wanted.first_byte = first_byte;
    return blocks;
  }

  static void need_length(const char* call, std::size_t has, std::size_t needs);
  /// Returns where blocks of these numbers of values begin and end. Throws input_error unless there is one for each
  /// rank.
  std::vector<std::size_t> first_bytes_of(const char* call, const std::vector<std::size_t>& counts,
                                          std::size_t width) const;
  std::vector<neighbour> blocks_for_all(const std::vector<std::size_t>& counts) const;

  bool fixed_order_ = false;

 private:
  /// Returns the schedule of an exchange, which is kept for the next call with the same blocks.
  std::shared_ptr<const schedule> exchange_schedule(const std::vector<neighbour>& to,
                                                    const std::vector<neighbour>& from, std::size_t width) const;

  struct kept_exchange {
    std::vector<neighbour> to, from;
    std::size_t width;
    std::shared_ptr<const schedule> todo;
  };

  const int rank_, size_;
  mutable std::vector<kept_exchange> kept_;  ///< the last one first
};

}  // namespace plaq::comm
