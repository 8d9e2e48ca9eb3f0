// What random numbers are drawn for; see stream_id::purpose.
#pragma once
#include <cstdint>

namespace plaq::dca::streams {

constexpr std::uint32_t moves = 1;
constexpr std::uint32_t warm_up_moves = 2;
constexpr std::uint32_t measurement_times = 3;
constexpr std::uint32_t neighbours = 4;

}  // namespace plaq::dca::streams
