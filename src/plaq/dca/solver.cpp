#include "plaq/dca/solver.hpp"

#include "plaq/dca/advance.hpp"
#include "plaq/dca/device/chain_devices.hpp"
#include "plaq/dca/device/chain_walk.hpp"

namespace plaq::dca {

namespace {

/// Advances a chain that is measured on the device where it walks.
void measure_on_device(device::chain_device& where, const problem& p, chain_state& state, control& c,
                       const batch::another_step& another) {
  device::chain_walk walk(where, p.rules, state.number, c, true);
  device::accumulator measured(where, p.rules, state.number);
  walk_and_measure(walk, measured, p.rules, state, another,
                   [&](std::uint64_t bin, double&) { return walk.bin(state.current, bin, measured); });
}

/// Advances a chain in its own bath, on a device or on the workers, with the precision that is asked for; returns
/// whether it has all its bins.
bool advance_chain(const problem& all, device::chain_devices& devices, chain_state& state, control& c,
                   two_particle_sink* sink, const batch::another_step& another) {
  const problem p = all.for_chain(state.number);
  const auto with = [&]<class Walk>(auto&&... walk) {
    Walk along(walk..., state.number, c);
    accumulator measured(p.model, p.measured, p.rules, state.number, sink);
    measure_on_worker<sample>(along, measured, p.rules, state, c, another);
  };
  if (!devices.empty()) {
    const device::chain_devices::reservation at(devices);
    if (sink)
      with.template operator()<device::chain_walk>(*at, p.rules);
    else
      measure_on_device(*at, p, state, c, another);
  } else if (p.moves.single_precision) {
    with.template operator()<chain_walk<float>>(p.model, p.moves, p.rules);
  } else {
    with.template operator()<chain_walk<double>>(p.model, p.moves, p.rules);
  }
  return state.complete(p.rules);
}

}  // namespace

void run_chains(const problem& p, chain_queue& queue, const run_options& options, control& c) {
  device::chain_devices devices(p, options.devices, options.ranks_per_device);
  const auto work = [&](auto&, chain_state& state, const batch::another_step& another) {
    return advance_chain(p, devices, state, c, nullptr, another);
  };
  batch::options pieces = options;
  if (!devices.empty() && pieces.in_flight == 0) pieces.in_flight = devices.chains();
  batch::run(queue, pieces, c, "dca chain", work);
}

void run_chains_distributed(const problem& p, chain_queue& queue, const run_options& options, control& c,
                            distributed_g4& shares) {
  device::chain_devices devices(p, options.devices, options.ranks_per_device);
  const auto work = [&](auto&, chain_state& state, const batch::another_step& another) {
    distributed_g4::source source(shares, int(state.number));
    return advance_chain(p, devices, state, c, &source, another);
  };
  batch::run_together(queue, options, c, "dca chain", work, [&](auto& tasks) {
    for (int chain = 0; chain < shares.chains(); ++chain)
      if (!shares.is_local(chain))
        tasks.begin("dca g4 of another rank", [&shares, chain] { shares.sum_remote(chain); });
  });
}

}  // namespace plaq::dca
