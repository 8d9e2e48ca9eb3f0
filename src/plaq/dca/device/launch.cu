#include "plaq/dca/device/advance.hpp"
#include "plaq/dca/device/launch.hpp"
#include "plaq/gpu/runtime.hpp"

namespace plaq::dca::device {

namespace {

constexpr int threads = 256;  // of a block

/// Kernel that advances one chain a block. The shared part of its workspace is copied to shared memory and back, where
/// it fits.
__global__ __launch_bounds__(threads) void advance_chains(walk_rules rules, measurement_rules measured, chain* chains,
                                                          std::size_t team_bytes) {
  extern __shared__ uint4 team_memory[];
  gpu::device_team team;
  chain& c = chains[blockIdx.x];
  workspace none;
  const std::size_t bytes = allocate_shared(none, nullptr, c.capacity, rules.block_length);
  const int words = bytes <= team_bytes ? int(bytes / sizeof(uint4)) : 0;
  auto* const home = reinterpret_cast<uint4*>(c.shared);
  team.each(words, [&](int i) { team_memory[i] = home[i]; });
  advance(team, rules, measured, c, words > 0 ? reinterpret_cast<std::byte*>(team_memory) : c.shared);
  team.each(words, [&](int i) { home[i] = team_memory[i]; });
}

}  // namespace

void advance_on_gpu(int number, const walk_rules& rules, const measurement_rules& measured, chain* chains, int count,
                    std::size_t team_bytes) {
  namespace runtime = gpu::runtime;
  runtime::must(runtime::choose(number), "choosing a device");
  runtime::must(runtime::allow_team_memory(advance_chains, team_bytes), "requesting shared memory of a block");
  advance_chains<<<count, threads, team_bytes, runtime::own_stream>>>(rules, measured, chains, team_bytes);
  runtime::must(runtime::of_last_launch(), "a launch");
  runtime::must(runtime::wait(), "a kernel");
}

}  // namespace plaq::dca::device
