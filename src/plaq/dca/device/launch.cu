#include "plaq/dca/device/advance.hpp"
#include "plaq/dca/device/launch.hpp"
#include "plaq/gpu/devices.hpp"
#include "plaq/gpu/runtime.hpp"

namespace plaq::dca::device {

namespace {

constexpr int threads = 256;  // of a block

/// Kernel that advances one chain a block, with shared memory as the fast memory of its team.
__global__ void __launch_bounds__(threads, gpu::teams_at_once)
    advance_chains(walk_rules rules, measurement_rules measured, chain* chains, std::size_t fast_bytes) {
  extern __shared__ uint4 fast[];
  gpu::device_team team;
  advance(team, rules, measured, chains[blockIdx.x], {reinterpret_cast<std::byte*>(fast), fast_bytes});
}

}  // namespace

void advance_on_gpu(int number, const walk_rules& rules, const measurement_rules& measured, chain* chains, int count,
                    std::size_t fast_bytes) {
  namespace runtime = gpu::runtime;
  runtime::must(runtime::choose(number), "choosing a device");
  runtime::must(runtime::allow_team_memory(advance_chains, fast_bytes), "requesting shared memory of a block");
  advance_chains<<<count, threads, fast_bytes, runtime::own_stream>>>(rules, measured, chains, fast_bytes);
  runtime::must(runtime::of_last_launch(), "a launch");
  runtime::must(runtime::wait(), "a kernel");
}

}  // namespace plaq::dca::device
