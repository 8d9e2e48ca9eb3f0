// Kernels on GPUs, for walks.cpp: launch.cu where plaq is built for them, else no_launch.cpp.
#pragma once
#include "plaq/dca/device/chain.hpp"

namespace plaq::dca::device {

/// Takes all chains on to `until` complete sweeps, a block of threads for each, and waits for them. `chains` are in
/// the GPU's memory.
void walk_on_gpu(int gpu, const walk_rules& rules, chain* chains, int count, int until);

}  // namespace plaq::dca::device
