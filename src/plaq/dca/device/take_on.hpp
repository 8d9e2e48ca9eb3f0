// What a chain does in one launch: sweeps alone, or sweeps and measurements in turn, without a return to the host.
#pragma once
#include "plaq/dca/device/measure.hpp"
#include "plaq/dca/device/walk.hpp"

namespace plaq::dca::device {

/// As walk(); where measurements are to be made, until those are complete.
template <class Team>
PLAQ_BY_TEAM void take_on(Team& team, const walk_rules& rules, const measurement_rules& measured, chain& c,
                          std::byte* hot) {
  measurement_state to = team.value([&] { return c.measured; });
  for (;;) {
    walk(team, rules, c, hot);
    const walk_state s = team.value([&] { return c.state; });
    if (s.how != outcome::done || to.done >= to.until) break;
    matrices<Team> m{team, rules, c.g0, c.g_equal, {}, c.capacity, s.order, s.sign};
    cut_hot(m.r, hot, c.capacity, rules.block_length);
    measure(m, measured, to);
    if (to.done == to.until) break;
    team.once([&] { c.until += measured.sweeps_per_measurement; });
  }
  team.once([&] { c.measured = to; });
}

}  // namespace plaq::dca::device
