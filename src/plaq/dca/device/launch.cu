#include "plaq/dca/device/launch.hpp"
#include "plaq/dca/device/walk.hpp"
#include "plaq/gpu/runtime.hpp"

namespace plaq::dca::device {

namespace {

constexpr int threads = 256;  // of a block; not yet tuned on a GPU

/// The first part of a chain's room is copied to the block's own memory and back, where it fits there.
__global__ __launch_bounds__(threads) void walk_chains(walk_rules rules, chain* chains, int until, int team_bytes) {
  extern __shared__ uint4 team_memory[];
  gpu::device_team team;
  chain& c = chains[blockIdx.x];
  const int words = team_bytes / sizeof(uint4);
  auto* const home = reinterpret_cast<uint4*>(c.hot);
  team.each(words, [&](int i) { team_memory[i] = home[i]; });
  walk(team, rules, c, words > 0 ? reinterpret_cast<std::byte*>(team_memory) : c.hot, until);
  team.each(words, [&](int i) { home[i] = team_memory[i]; });
}

}  // namespace

void walk_on_gpu(int number, const walk_rules& rules, chain* chains, int count, int until) {
  namespace runtime = gpu::runtime;
  runtime::must(runtime::choose(number), "choosing a device");
  runtime::properties p;
  runtime::must(runtime::describe(&p, number), "properties of a device");
  room none;
  const std::size_t wanted = cut_hot(none, nullptr, rules);
  const std::size_t bytes = wanted <= p.sharedMemPerBlockOptin ? wanted : 0;
  runtime::must(runtime::allow_team_memory(walk_chains, bytes), "asking for shared memory");
  walk_chains<<<count, threads, bytes>>>(rules, chains, until, int(bytes));
  runtime::must(runtime::of_last_launch(), "a launch");
  runtime::must(runtime::wait(), "a kernel");
}

}  // namespace plaq::dca::device
