// Random streams of the chains: purposes of the numbers, and their coordinates.
#pragma once
#include <cstdint>

#include "plaq/base/random.hpp"
#include "plaq/dca/problem.hpp"

namespace plaq::dca::streams {

constexpr std::uint32_t moves = 1;
constexpr std::uint32_t warm_up_moves = 2;
constexpr std::uint32_t measurement_times = 3;
constexpr std::uint32_t neighbours = 4;
constexpr std::uint32_t worms = 5;
constexpr std::uint32_t warm_up_worms = 6;
constexpr std::uint32_t charge_worms = 7;
constexpr std::uint32_t warm_up_charge_worms = 8;

/// Returns the stream of a purpose; the coordinates are temperature, iteration, chain and bin.
inline stream_id of(const chain_rules& r, std::uint32_t purpose, std::uint32_t chain, std::uint64_t bin) {
  return {.seed = r.seed, .purpose = purpose, .i = r.point, .j = r.iteration, .k = chain, .l = bin};
}

}  // namespace plaq::dca::streams
