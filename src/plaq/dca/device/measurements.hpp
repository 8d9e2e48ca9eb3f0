// Measurements on a device: plain structs with the same layout on host and device.
#pragma once
#include <cmath>
#include <cstddef>

#include "plaq/base/random.hpp"
#include "plaq/gpu/arena.hpp"

namespace plaq::dca::device {

/// Complex number in single precision.
struct alignas(8) number {
  float re, im;

  PLAQ_ANYWHERE number conjugate() const { return {re, -im}; }
};
/// Returns sum + x y.
PLAQ_ANYWHERE inline number add_product(number sum, number x, number y) {
  return {std::fma(x.re, y.re, std::fma(-x.im, y.im, sum.re)), std::fma(x.re, y.im, std::fma(x.im, y.re, sum.im))};
}

inline constexpr int times_measured = 4;  ///< of a configuration, equal to green_at_times::times
inline constexpr int series_width = 6;    ///< number of dca::series_columns
inline constexpr std::size_t series_limit = 4096;

/// Sizes that determine those of sums and workspaces.
struct measurement_sizes {
  int sites, frequencies;  ///< of the single-particle function
  int histogram_size = 1;
  int pair_frequencies = 0;    ///< positive ones of G(k, k'); 0: no two-particle functions
  int window = 0, orbits = 0;  ///< of G4; orbits of pairs (K, K'), 0: no pairing function
  int channels = 0;
  bool same_spin = false;  ///< one of the channels is magnetic or charge

  PLAQ_ANYWHERE int points() const { return times_measured * sites; }
  /// Number of values of one spin's G(k, k'), k > 0.
  PLAQ_ANYWHERE std::size_t plane() const {
    return std::size_t(2) * sites * sites * pair_frequencies * pair_frequencies;
  }
  // Numbers of sums in single precision: of the pairing function, of a channel (complex), of all.
  PLAQ_ANYWHERE std::size_t pairing_size() const { return std::size_t(2) * orbits * window * window; }
  PLAQ_ANYWHERE std::size_t channel_size() const { return std::size_t(4) * sites * sites * window * window; }
  PLAQ_ANYWHERE std::size_t functions_size() const { return pairing_size() + 2 * channel_size() * channels; }
};

/// Channel of a channel_request. relative: sign of the product of spins, 0 for pp.
struct channel_rules {
  int relative, transfer, bosonic;
};

/// Parameters and tables of the measurements, common to all chains; tables are in the device's memory.
struct measurement_rules {
  measurement_sizes sizes;
  double beta;
  int sweeps_per_measurement, measurements_per_bin;
  // Offsets in the sums of a bin: bin_layout.hpp.
  std::size_t sign, order, weight, single_particle, correlations, histogram, functions;

  const int* odd;           ///< frequencies of the single-particle function
  const int* partner;       ///< [R][i]: j with R_i - R_j = R
  const number* fourier;    ///< [K][R]: e^{-i K R}
  const int *plus, *minus;  ///< [K][Q]: K + Q; [K]: -K
  const int* orbit_pairs;   ///< K * sites + K', one orbit after the other
  const int* orbit_begins;  ///< begin of each orbit in orbit_pairs, and the end of the last one
  const channel_rules* channels;
};

/// State of one chain's measurements of a bin.
struct measurement_state {
  int target = 0;  ///< measurements to be complete after the launch; 0: none
  int done = 0;
  int since_flush = 0;  ///< configurations in the sums in single precision

  std::byte* workspace = nullptr;  ///< memory of a measurement_workspace
  double* sums = nullptr;
  float* functions = nullptr;  ///< two-particle functions in single precision, in the layout of the sums
  float* series = nullptr;     ///< [measurement][column] of series_columns
  const number* g0 = nullptr;  ///< [K][n], of this chain
  stream_id times{}, neighbours{};
};

/// Workspace of one measurement, for k vertices, which q numbers by site.
struct measurement_workspace {
  gpu::array_pair<float> m;  ///< [q'][q]: M_qq' = (e^V - 1) N, sides being up and down
  double* tau;
  gpu::array_pair<double> strength, diagonal;  ///< e^V - 1, N_qq
  int *vertex, *site, *first;      ///< number in the walk; first[x] is the first q of site x; sites + 1 entries
  float *row, *column;             ///< of M, for a neighbour
  float *phase, *pair_phase;       ///< [q][cos, sin][frequency]
  float* transformed;              ///< [q][x'][cos, sin][frequency]
  number* by_sites;                ///< [x][x'][frequency]
  float *to, *from, *half;         ///< [q][point]
  gpu::array_pair<double> green;   ///< [point][point]
  double* increments;              ///< of the correlations by one configuration
  float* parts;                    ///< [x][cos, sin][n][x'][cos, sin][n']
  number* mixed;                   ///< [K][x'][n][n']
  gpu::array_pair<number> g;       ///< [K][K'][n > 0][n']
  gpu::array_pair<number> across;  ///< [K][K'][n'][n > 0], for channels of the same spin
  number* direct;                  ///< [2][K][n]
};

/// Allocates the workspace and returns its bytes; without memory only counts them.
PLAQ_ANYWHERE inline std::size_t allocate_measurement(measurement_workspace& r, std::byte* memory,
                                                      const measurement_sizes& s, std::size_t k) {
  const std::size_t sites = s.sites, f = s.frequencies, pairs = s.pair_frequencies, points = s.points();
  gpu::arena c(memory);
  c.allocate(r.m, k * k);
  c.allocate(r.tau, k);
  c.allocate(r.strength, k);
  c.allocate(r.diagonal, k);
  c.allocate(r.green, points * points);
  c.allocate(r.increments, 2 + 5 * sites);
  for (int** v : {&r.vertex, &r.site}) c.allocate(*v, k);
  c.allocate(r.first, sites + 1);
  for (float** v : {&r.row, &r.column}) c.allocate(*v, k);
  c.allocate(r.phase, 2 * f * k);
  c.allocate(r.pair_phase, 2 * pairs * k);
  c.allocate(r.transformed, 2 * (f > pairs ? f : pairs) * k * sites);
  c.allocate(r.by_sites, sites * sites * f);
  for (float** v : {&r.to, &r.from, &r.half}) c.allocate(*v, k * points);
  c.allocate(r.parts, 4 * sites * sites * pairs * pairs);
  c.allocate(r.mixed, s.plane());
  c.allocate(r.g, s.plane());
  c.allocate(r.across, s.same_spin ? s.plane() : 0);
  c.allocate(r.direct, s.same_spin ? 4 * sites * s.window : 0);
  return c.bytes();
}

}  // namespace plaq::dca::device
