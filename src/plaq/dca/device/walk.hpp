// Whole sweeps of a chain on a device, without a return to the host: what chain_walk does, for its default moves.
#pragma once
#include "plaq/dca/device/ctaux.hpp"
#include "plaq/dca/device/worm.hpp"

namespace plaq::dca::device {

/// Takes a chain on to its `until`, or as far as its outcome says. `hot` is the first part of its room,
/// in the chain's own memory or in the team's.
template <class Team>
PLAQ_BY_TEAM void walk(Team& team, const walk_rules& rules, chain& c, std::byte* hot) {
  walk_state s = team.value([&] { return c.state; });
  matrices<Team> m{team, rules, c.g0, c.g_equal, {}, c.capacity, s.order, s.sign};
  cut_hot(m.r, hot, c.capacity, rules.block_length);
  cut_cold(m.r, c.cold, c.capacity);
  ctaux<Team> vertices(m);
  worm<Team> spins(m);

  bool finite = true;
  s.how = outcome::done;
  if (s.fresh) {
    finite = m.renew();
    s.fresh = false;
  }
  const int count = rules.proposals_per_sweep, blocks = (count + rules.block_length - 1) / rules.block_length;
  while (finite && s.how == outcome::done && s.sweeps < c.until) {
    for (; s.block < blocks; ++s.block) {
      if (m.order + rules.block_length > c.capacity) {
        s.how = outcome::wants_room;
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
  if (!finite) s.how = outcome::not_finite;
  s.order = m.order;
  s.sign = m.sign;
  team.once([&] { c.state = s; });
}

}  // namespace plaq::dca::device
