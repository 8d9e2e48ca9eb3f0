// Parts that algorithms are written in; internal to them.
#pragma once
#include <algorithm>
#include <cstddef>

#include "plaq/base/portion.hpp"
#include "plaq/comm/schedules/algorithms.hpp"
#include "plaq/comm/schedules/parts_of_sum.hpp"

namespace plaq::comm {

/// Context of an algorithm. Positions in `map` stand for ranks until a message is written.
struct algorithm_context {
  const request& wanted;
  const method& by;
  const node_map& map;
  int me;  ///< position
  program& steps;

  int size() const { return map.size(); }
  void send(int position, location from, std::size_t n) const { steps.send(map.rank_at(position), from, n); }
  void receive(int position, location to, std::size_t n) const { steps.receive(map.rank_at(position), to, n); }
  location input(std::size_t offset = 0) const { return {memory::input, offset}; }
  location output(std::size_t offset = 0) const { return {memory::output, offset}; }
  /// Offset of block `i`.
  std::size_t block(int i) const {
    return wanted.first_byte.empty() ? std::size_t(i) * wanted.bytes : wanted.first_byte[std::size_t(i)];
  }
  /// Length of blocks begin ... end - 1, in bytes.
  std::size_t blocks(range r) const { return block(r.end) - block(r.begin); }
  /// Offset of share `i` of the `parts` shares of one block, in whole grains.
  std::size_t share(int i, int parts) const {
    return portion{i, parts}.begin(wanted.bytes / wanted.grain) * wanted.grain;
  }
  std::size_t segment() const {
    const std::size_t whole = std::max(by.segment / wanted.grain, std::size_t(1)) * wanted.grain;
    return by.segment == 0 ? wanted.bytes : std::min(whole, wanted.bytes);
  }
  bracketing summation() const {
    return {wanted.fixed_order, wanted.first_piece.empty() ? size() : wanted.first_piece.back()};
  }
};

// algorithms_tree.cpp
void broadcast_by_tree(const algorithm_context& s);
/// Reduces contributions in `from` to `to` of the root, and to `s.output()` of all if `then_broadcast`.
void reduce_by_tree(const algorithm_context& s, location from, location to, bool then_broadcast);
void gather_by_tree(const algorithm_context& s);
void scatter_by_tree(const algorithm_context& s);
void all_gather_by_tree(const algorithm_context& s);
void reduce_scatter_by_tree(const algorithm_context& s);
void scan_by_tree(const algorithm_context& s);
void scan_by_chain(const algorithm_context& s);

// algorithms_exchange.cpp
void all_reduce_by_butterfly(const algorithm_context& s);
void all_reduce_by_halving(const algorithm_context& s);
void all_reduce_by_ring(const algorithm_context& s);
void all_reduce_directly(const algorithm_context& s);
void all_gather_by_butterfly(const algorithm_context& s);
void all_gather_by_ring(const algorithm_context& s);
void all_gather_directly(const algorithm_context& s);
void all_to_all_directly(const algorithm_context& s);
void all_to_all_by_bruck(const algorithm_context& s);
void reduce_scatter_directly(const algorithm_context& s);
void scan_by_doubling(const algorithm_context& s);

}  // namespace plaq::comm
