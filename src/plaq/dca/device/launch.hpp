// Kernels on GPUs, for walk_place.cpp: launch.cu where plaq is built for them, else no_launch.cpp.
#pragma once
#include <cstddef>

#include "plaq/dca/device/chain.hpp"

namespace plaq::dca::device {

/// Takes all chains on, a block of threads for each with so many bytes of its own, and waits for them. `chains` are in
/// the GPU's memory.
void take_on_gpu(int number, const walk_rules& rules, const measurement_rules& measured, chain* chains, int count,
                 std::size_t team_bytes);

}  // namespace plaq::dca::device
