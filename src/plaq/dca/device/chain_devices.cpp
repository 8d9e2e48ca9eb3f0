#include "plaq/dca/device/chain_devices.hpp"

#include <algorithm>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/dca/device/accumulator.hpp"
#include "plaq/dca/device/walker.hpp"

namespace plaq::dca::device {

namespace {
constexpr int host_multiprocessors = 4;  // of the host in place of a GPU

std::string name(gpu::device where) {
  return where.gpu == gpu::device::host ? "the host" : "GPU " + std::to_string(where.gpu);
}
}  // namespace

int chains_at_once(int multiprocessors, std::size_t memory_left, std::size_t bytes_of_chain) {
  return int(std::min<std::size_t>(gpu::teams_at_once * multiprocessors, memory_left / bytes_of_chain));
}

chain_devices::chain_devices(const problem& p, const std::vector<gpu::device>& where, int ranks) {
  if (where.empty()) return;
  const std::size_t chain = chain_bytes(sizes_of(p.model.parameters.sites, p.measured),
                                        walker::capacity_for(p.moves.proposals_per_sweep, p.moves.block_length),
                                        p.moves.block_length, p.rules.measurements_per_bin);
  const gpu::device_list devices = gpu::find_devices();
  for (const gpu::device at : where) {
    const bool host = at.gpu == gpu::device::host;
    const std::size_t left = gpu::memory_left(at) / std::size_t(ranks);
    const int chains =
        chains_at_once(host ? host_multiprocessors : devices.gpus.at(at.gpu).multiprocessors, left, chain);
    if (chains == 0)
      throw runtime_failure(name(at) + " has " + std::to_string(left >> 20) +
                            " MiB left for this rank, and a chain needs " + std::to_string(chain >> 20) + " MiB");
    devices_.emplace_back(p, at, chains);
  }
}

int chain_devices::chains() const {
  int all = 0;
  for (const entry& p : devices_) all += p.chains;
  return all;
}

chain_devices::reservation::reservation(chain_devices& to) : to_(to) {
  const std::lock_guard lock(to.mutex_);
  const auto fuller = [](const entry& a, const entry& b) {
    return std::int64_t(a.running) * b.chains < std::int64_t(b.running) * a.chains;
  };
  at_ = std::size_t(std::ranges::min_element(to.devices_, fuller) - to.devices_.begin());
  ++to.devices_[at_].running;
}

chain_devices::reservation::~reservation() {
  const std::lock_guard lock(to_.mutex_);
  --to_.devices_[at_].running;
}

}  // namespace plaq::dca::device
