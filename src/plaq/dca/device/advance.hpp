// One launch of a chain: sweeps alone, or sweeps and measurements in turn, without a return to the host.
#pragma once
#include "plaq/dca/device/measure.hpp"
#include "plaq/dca/device/walk.hpp"

namespace plaq::dca::device {

/// Walks a chain to its target, or until its target of measurements is reached. `fast`: memory of this team alone.
template <class Team>
PLAQ_BY_TEAM void advance(Team& team, const walk_rules& rules, const measurement_rules& measured, chain& c,
                          gpu::fast_memory fast) {
  measurement_state to = team.value([&] { return c.measured; });
  matrices<Team> m{team, rules, c.g0, c.g_equal, {}, c.scratch, fast, c.capacity, 0, 1};
  allocate_vertices(m.r, c.vertices, c.capacity);
  for (;;) {
    walk(m, c);
    const walk_status status = team.value([&] { return c.state.status; });
    if (status != walk_status::done || to.done >= to.target) break;
    measure(m, measured, to);
    if (to.done == to.target) break;
    team.once([&] { c.target_sweeps += measured.sweeps_per_measurement; });
  }
  team.once([&] { c.measured = to; });
}

}  // namespace plaq::dca::device
