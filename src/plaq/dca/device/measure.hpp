// Measurement on a device of a configuration of the walk and one of its neighbours, as dca::accumulator.
#pragma once
#include "plaq/dca/device/correlations.hpp"
#include "plaq/dca/device/single_particle.hpp"
#include "plaq/dca/device/two_particle.hpp"
#include "plaq/dca/measure/two_particle_sums.hpp"

namespace plaq::dca::device {

/// Adds the sums in single precision to those in double precision and resets them.
template <class Team>
PLAQ_BY_TEAM void flush(Team& team, const measurement_rules& rules, const measurement_state& to) {
  team.each(int(rules.sizes.functions_size()), [&](int i) {
    to.sums[rules.functions + i] += to.functions[i];
    to.functions[i] = 0;
  });
}

/// Measures one configuration.
template <class Team>
PLAQ_BY_TEAM void measure_configuration(const measured_sample<Team>& s, const correlations<Team>& equal_times,
                                        measurement_state& to) {
  const measurement_rules& rules = s.rules;
  s.team.once([&] { to.sums[rules.weight] += s.weight(); });
  measure_single_particle(s, to.sums + rules.single_particle);
  equal_times.measure(s, to.sums + rules.correlations);
  if (rules.sizes.pair_frequencies == 0) return;
  for (int side = 0; side < 2; ++side) compute_two_frequency(s, side, to.g0);
  two_particle<Team>(s).measure(to.functions);
  ++to.since_flush;
}

/// Measures the chain's current configuration. Every thread has a copy of `to` with equal values.
template <class Team>
PLAQ_BY_TEAM void measure(const matrices<Team>& m, const measurement_rules& rules, measurement_state& to) {
  measurement_workspace r;
  allocate_measurement(r, to.workspace, rules.sizes, m.capacity);
  Team& team = m.team;
  const std::size_t index = std::size_t(to.done);
  auto s = measured_sample<Team>::from_walk(m, rules, r);
  const int k = s.order;
  team.once([&] {
    to.sums[rules.sign] += s.sign;
    to.sums[rules.order] += s.sign * k;
    to.sums[rules.histogram + (k < rules.sizes.histogram_size ? k : rules.sizes.histogram_size - 1)] += 1;
  });
  prepare_single_particle(s);
  if (rules.sizes.pair_frequencies > 0) prepare_two_frequency(s);
  const correlations<Team> equal_times(s, m.g0, to.times, index);

  s.compute_mis_weight();
  measure_configuration(s, equal_times, to);
  if (index < series_limit)
    team.once([&] {
      const int sites = rules.sizes.sites;
      double spin = 0, charge = 0;
      for (int R = 0; R < sites; ++R) spin += r.increments[2 + R], charge += r.increments[2 + sites + R];
      const double values[] = {s.sign,
                               double(k),
                               r.increments[0] / s.mis_weight,
                               r.increments[1] / s.mis_weight,
                               spin / s.mis_weight,
                               charge / s.mis_weight};
      for (int i = 0; i < series_width; ++i) to.series[index * series_width + i] = float(values[i]);
    });
  if (k > 0) {
    s.flip(int(below(random_words(to.neighbours, index)[0], k)));
    s.compute_mis_weight();
    measure_configuration(s, equal_times, to);
  }
  ++to.done;
  // Flushes before the limit, two configurations at a time, and at the end of the bin.
  if (to.since_flush + 2 > two_particle_sums::configurations_per_flush || to.done == rules.measurements_per_bin) {
    flush(team, rules, to);
    to.since_flush = 0;
  }
}

}  // namespace plaq::dca::device
