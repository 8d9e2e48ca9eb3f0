// A measurement on a device, of a configuration of the walk and one of its neighbours: dca::accumulator.
#pragma once
#include "plaq/dca/device/correlations.hpp"
#include "plaq/dca/device/single_particle.hpp"
#include "plaq/dca/device/two_particle.hpp"
#include "plaq/dca/measure/two_particle_sums.hpp"

namespace plaq::dca::device {

/// Sums in single precision move to those in double.
template <class Team>
PLAQ_BY_TEAM void flush(Team& team, const measurement_rules& rules, const measurement_state& to) {
  team.each(int(rules.sizes.functions_size()), [&](int i) {
    to.sums[rules.functions + i] += to.functions[i];
    to.functions[i] = 0;
  });
}

/// All that is measured of one configuration.
template <class Team>
PLAQ_BY_TEAM void measure_one(const measured_sample<Team>& s, const correlations<Team>& equal_times,
                              measurement_state& to) {
  const measurement_rules& rules = s.rules;
  s.team.once([&] { to.sums[rules.weight] += s.weight(); });
  measure_single_particle(s, to.sums + rules.single_particle);
  equal_times.measure(s, to.sums + rules.correlations);
  if (rules.sizes.pair_frequencies == 0) return;
  for (int side = 0; side < 2; ++side) find_two_frequency(s, side, to.g0);
  two_particle<Team>(s).measure(to.functions);
  ++to.since_flush;
}

/// The chain where it stands. Every thread has `to`, with the same values.
template <class Team>
PLAQ_BY_TEAM void measure(const matrices<Team>& m, const measurement_rules& rules, measurement_state& to) {
  measurement_room r;
  cut_measurements(r, to.room, rules.sizes, m.capacity);
  Team& team = m.team;
  const std::size_t index = std::size_t(to.done);
  auto s = measured_sample<Team>::taken(m, rules, r);
  const int k = s.order;
  team.once([&] {
    to.sums[rules.sign] += s.sign;
    to.sums[rules.order] += s.sign * k;
    to.sums[rules.histogram + (k < rules.sizes.histogram_size ? k : rules.sizes.histogram_size - 1)] += 1;
  });
  prepare_single_particle(s);
  if (rules.sizes.pair_frequencies > 0) prepare_two_frequency(s);
  const correlations<Team> equal_times(s, m.g0, to.times, index);

  s.find_share();
  measure_one(s, equal_times, to);
  if (index < series_limit)
    team.once([&] {
      const int sites = rules.sizes.sites;
      double spin = 0, charge = 0;
      for (int R = 0; R < sites; ++R) spin += r.found[2 + R], charge += r.found[2 + sites + R];
      const double values[] = {s.sign,         double(k),       r.found[0] / s.share, r.found[1] / s.share,
                               spin / s.share, charge / s.share};
      for (int i = 0; i < series_width; ++i) to.series[index * series_width + i] = float(values[i]);
    });
  if (k > 0) {
    s.flip(int(below(random_words(to.neighbours, index)[0], k)));
    s.find_share();
    measure_one(s, equal_times, to);
  }
  ++to.done;
  // Before the next two, and at the end of the bin.
  if (to.since_flush + 2 > two_particle_sums::configurations_per_flush || to.done == rules.measurements_per_bin) {
    flush(team, rules, to);
    to.since_flush = 0;
  }
}

}  // namespace plaq::dca::device
