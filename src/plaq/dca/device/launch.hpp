// Launches on GPUs, for chain_device.cpp: launch.cu where plaq is built for them, else no_launch.cpp.
#pragma once
#include <cstddef>

#include "plaq/dca/device/chain.hpp"

namespace plaq::dca::device {

/// Advances all chains, each by a block of threads with so many bytes of shared memory, and waits. `chains` are in the
/// GPU's memory. Throws a runtime_failure where the launch fails or plaq was built without GPUs.
void advance_on_gpu(int number, const walk_rules& rules, const measurement_rules& measured, chain* chains, int count,
                    std::size_t fast_bytes);

}  // namespace plaq::dca::device
