// One launch of a chain: sweeps alone, or sweeps and measurements in turn, without a return to the host.
#pragma once
#include "plaq/dca/device/measure.hpp"
#include "plaq/dca/device/walk.hpp"

namespace plaq::dca::device {

/// Walks a chain to its target, or until its target of measurements is reached. `shared`: as in walk().
template <class Team>
PLAQ_BY_TEAM void advance(Team& team, const walk_rules& rules, const measurement_rules& measured, chain& c,
                          std::byte* shared) {
  measurement_state to = team.value([&] { return c.measured; });
  for (;;) {
    walk(team, rules, c, shared);
    const walk_state s = team.value([&] { return c.state; });
    if (s.status != walk_status::done || to.done >= to.target) break;
    matrices<Team> m{team, rules, c.g0, c.g_equal, {}, c.capacity, s.order, s.sign};
    allocate_shared(m.r, shared, c.capacity, rules.block_length);
    measure(m, measured, to);
    if (to.done == to.target) break;
    team.once([&] { c.target_sweeps += measured.sweeps_per_measurement; });
  }
  team.once([&] { c.measured = to; });
}

}  // namespace plaq::dca::device
