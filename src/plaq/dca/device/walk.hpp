// Whole sweeps of a chain on a device, without a return to the host: the default moves of dca::chain_walk.
#pragma once
#include "plaq/dca/device/vertex_moves.hpp"
#include "plaq/dca/device/worm.hpp"

namespace plaq::dca::device {

/// Walks a chain to its target of sweeps, or until its status is not `done`.
template <class Team>
PLAQ_BY_TEAM void walk(matrices<Team>& m, chain& c) {
  Team& team = m.team;
  const walk_rules& rules = m.rules;
  walk_state s = team.value([&] { return c.state; });
  m.order = s.order;
  m.sign = s.sign;
  vertex_moves<Team> vertices(m);
  worm<Team> spins(m);

  bool finite = true;
  s.status = walk_status::done;
  if (s.n_outdated) {
    finite = m.recompute();
    s.n_outdated = false;
  }
  const int count = rules.proposals_per_sweep, blocks = (count + rules.block_length - 1) / rules.block_length;
  while (finite && s.status == walk_status::done && s.sweeps < c.target_sweeps) {
    for (; s.block < blocks; ++s.block) {
      if (m.order + rules.block_length > c.capacity) {
        s.status = walk_status::out_of_capacity;
        break;
      }
      const int begin = int(std::int64_t(count) * s.block / blocks);
      const int end = int(std::int64_t(count) * (s.block + 1) / blocks);
      s.accepted += vertices.block(c.proposals, std::uint64_t(s.sweeps) * count + begin, end - begin);
      s.proposed += end - begin;
    }
    if (s.block < blocks) break;
    s.block = 0;
    ++s.sweeps;
    if (s.sweeps % rules.sweeps_between_rebuilds == 0)
      finite = m.rebuild(s.drift) && vertices.flip_site(c.proposals, ~std::uint64_t(s.sweeps));
    if (finite && s.sweeps % rules.sweeps_between_worms == 0)
      finite = spins.send(c.worms, std::uint64_t(s.sweeps) * (rules.longest_worm + 1));
  }
  if (!finite) s.status = walk_status::not_finite;
  s.order = m.order;
  s.sign = m.sign;
  team.once([&] { c.state = s; });
}

}  // namespace plaq::dca::device
