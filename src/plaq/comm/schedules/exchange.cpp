#include "plaq/comm/schedules/exchange.hpp"

#include <algorithm>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq::comm {

namespace {

struct placed_block {
  int peer, distance;
  std::size_t offset, bytes;
};

/// Returns the blocks with their offsets, by their distance from `rank` along the ring of ranks: rank r begins with
/// r + 1, or r - 1 if it receives, so that not all ranks send to the same one first.
std::vector<placed_block> place(int rank, int ranks, const std::vector<neighbour>& blocks, int direction,
                                std::size_t width) {
  std::vector<placed_block> placed;
  std::size_t offset = 0;
  for (const auto& b : blocks) {
    if (b.rank < 0 || b.rank >= ranks)
      throw input_error("there is no rank " + std::to_string(b.rank) + " among " + std::to_string(ranks));
    if (b.count == 0) continue;
    placed.push_back({b.rank, (direction * (b.rank - rank) + ranks) % ranks, offset, b.count * width});
    offset += b.count * width;
  }
  std::ranges::stable_sort(placed, {}, &placed_block::distance);
  return placed;
}

}  // namespace

schedule make_exchange(int rank, int ranks, const std::vector<neighbour>& to, const std::vector<neighbour>& from,
                       std::size_t width) {
  const auto sent = place(rank, ranks, to, 1, width), received = place(rank, ranks, from, -1, width);
  program steps;
  auto own = sent.begin();  // blocks for this rank itself come first in both
  for (const auto& b : received) {
    if (b.peer != rank) {
      steps.receive(b.peer, {memory::output, b.offset}, b.bytes);
      continue;
    }
    const bool matched = own != sent.end() && own->peer == rank;
    if (!matched || own->bytes != b.bytes)
      throw input_error("rank " + std::to_string(rank) + " sends " + (matched ? std::to_string(own->bytes) : "no") +
                        " bytes to itself and receives " + std::to_string(b.bytes));
    ++own;
  }
  if (own != sent.end() && own->peer == rank)
    throw input_error("rank " + std::to_string(rank) + " sends " + std::to_string(own->bytes) +
                      " bytes to itself and does not receive them");
  for (const auto& b : sent)
    if (b.peer != rank) steps.send(b.peer, {memory::input, b.offset}, b.bytes);
  for (std::size_t i = 0; i < received.size() && received[i].peer == rank; ++i)  // while messages travel
    steps.copy({memory::output, received[i].offset}, {memory::input, sent[i].offset}, received[i].bytes);
  return std::move(steps).finish();
}

std::size_t total_of(const std::vector<neighbour>& blocks) {
  std::size_t sum = 0;
  for (const auto& b : blocks) sum += b.count;
  return sum;
}

}  // namespace plaq::comm
