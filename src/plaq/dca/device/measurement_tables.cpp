#include "plaq/dca/device/measurement_tables.hpp"

#include <algorithm>
#include <complex>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/bin_layout.hpp"
#include "plaq/dca/measure/two_particle.hpp"

namespace plaq::dca::device {

namespace {
std::vector<number> in_single_precision(const std::vector<std::complex<double>>& from) {
  std::vector<number> out;
  for (const auto& z : from) out.push_back({float(z.real()), float(z.imag())});
  return out;
}
}  // namespace

measurement_sizes sizes_of(int sites, const measurement_list& measured) {
  measurement_sizes out{
      .sites = sites, .frequencies = int(measured.odd_frequencies.size()), .histogram_size = measured.histogram_size};
  if (!measured.pairing && measured.channels.empty()) return out;
  out.pair_frequencies = measured.two_particle_frequencies;
  out.window = measured.window;
  out.orbits = measured.pairing ? 1 + *std::ranges::max_element(measured.orbit) : 0;
  out.channels = int(measured.channels.size());
  out.same_spin = std::ranges::any_of(measured.channels, [](auto& c) { return c.kind != channel::pp; });
  return out;
}

template <class T>
const T* measurement_tables::keep(const std::vector<T>& table) {
  gpu::memory& there = kept_.emplace_back(where_, table.size() * sizeof(T));
  there.put(0, table.data(), there.size());
  return reinterpret_cast<const T*>(there.data());
}

measurement_tables::measurement_tables(const problem& p, gpu::device where) : where_(where) {
  const measurement_list& measured = p.measured;
  const momentum_tables& momenta = p.model.momenta;
  const int sites = p.model.parameters.sites;
  measurement_rules& r = rules_;
  r.sizes = sizes_of(sites, measured);
  r.beta = p.model.parameters.beta;
  r.sweeps_per_measurement = p.rules.sweeps_per_measurement;
  r.measurements_per_bin = p.rules.measurements_per_bin;
  const bin_layout layout = layout_of(sites, measured);
  r.sign = array_named(layout, "sign").offset;
  r.order = array_named(layout, "order").offset;
  r.weight = array_named(layout, "weight").offset;
  r.single_particle = array_named(layout, "single_particle").offset;
  r.correlations = array_named(layout, "density").offset;
  r.histogram = array_named(layout, "histogram").offset;
  r.functions = total_size(layout) - r.sizes.functions_size();
  check(r.functions == r.histogram + array_named(layout, "histogram").size(),
        "two-particle functions are last in a bin");

  const std::vector<int>& difference = p.model.difference;
  check(difference.size() == std::size_t(sites) * sites, "measurements: differences must be sites x sites");
  std::vector<int> partner(difference.size());
  for (int i = 0; i < sites; ++i)
    for (int j = 0; j < sites; ++j) partner[difference[i * sites + j] * sites + i] = j;
  r.odd = keep(measured.odd_frequencies);
  r.partner = keep(partner);
  if (r.sizes.pair_frequencies == 0) return;

  r.fourier = keep(in_single_precision(momenta.fourier));
  r.plus = keep(momenta.sum);
  r.minus = keep(momenta.minus);
  std::vector<int> begins, pairs;
  for (int orbit = 0; orbit < r.sizes.orbits; ++orbit) {
    begins.push_back(int(pairs.size()));
    for (int pair = 0; pair < sites * sites; ++pair)
      if (measured.orbit[pair] == orbit) pairs.push_back(pair);
  }
  begins.push_back(int(pairs.size()));
  r.orbit_begins = keep(begins);
  r.orbit_pairs = keep(pairs);
  std::vector<channel_rules> channels;
  for (const channel_request& c : measured.channels) {
    check(vertex_channel::frequencies_needed(measured.window, c.bosonic) <= measured.two_particle_frequencies,
          "measurements: too few frequencies for a channel");
    channels.push_back({c.kind == channel::pp ? 0 : c.kind == channel::magnetic ? -1 : 1, c.transfer, c.bosonic});
  }
  r.channels = keep(channels);

  const auto keep_bath = [&](const std::vector<std::complex<double>>& g0) {
    check(g0.size() == std::size_t(sites) * r.sizes.pair_frequencies, "measurements: g0 must be [K][n]");
    return keep(in_single_precision(g0));
  };
  std::map<const bath_function*, const number*> baths;
  if (p.baths.empty()) g0_.push_back(keep_bath(measured.g0_frequency));
  for (const auto& bath : p.baths) {
    const number*& there = baths[bath.get()];
    if (!there) there = keep_bath(bath->g0_frequency);
    g0_.push_back(there);
  }
}

const number* measurement_tables::g0(std::uint32_t chain) const {
  return g0_.empty() ? nullptr : g0_.size() == 1 ? g0_[0] : g0_.at(chain);
}

}  // namespace plaq::dca::device
