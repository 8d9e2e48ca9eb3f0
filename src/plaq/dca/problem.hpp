// Problem of one iteration: all that stays fixed while its chains run.
#pragma once
#include <complex>
#include <memory>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/channels.hpp"
#include "plaq/dca/momenta.hpp"
#include "plaq/dca/walk/configuration.hpp"
#include "plaq/dca/walk/g0_table.hpp"

namespace plaq::dca {

/// Cluster in its bath: parameters of the weight of a configuration and of its Green's functions.
struct cluster_model {
  expansion parameters;
  std::shared_ptr<const g0_table> g0;
  std::vector<int> difference;  ///< [i][j]: index of R_i - R_j
  momentum_tables momenta;
};

/// Parameters of the walkers' moves.
struct move_rules {
  int block_length = 64;  ///< proposals from one change of N to the next
  int proposals_per_sweep = 1;
  int sweeps_between_rebuilds = 20;  ///< each followed by the proposal to flip a site
  int sweeps_between_worms = 10;
  int sweeps_between_charge_worms = 0;  ///< 0: none
  int longest_worm = 1000;              ///< steps after which a worm is rejected
  bool single_precision = false;        ///< N in float
};

/// List of the measurements.
struct measurement_list {
  std::vector<int> odd_frequencies;  ///< of the single-particle function, n > 0 odd
  int histogram_size = 1;            ///< orders 0 ... size - 1; the last one counts all above

  int window = 0;          ///< positive frequencies of G4; 0 measures none
  bool pairing = false;    ///< the pairing channel at q = 0 in its real form
  std::vector<int> orbit;  ///< [K][K']: block of the pairing function
  std::vector<channel_request> channels;
  int two_particle_frequencies = 0;                ///< window + the largest |m|
  std::vector<std::complex<double>> g0_frequency;  ///< [K][n], n = 0 ... two_particle_frequencies - 1
};

/// Division of a chain into bins, and coordinates of its random numbers.
struct chain_rules {
  int warm_up_sweeps = 0;
  int sweeps_per_measurement = 1;
  int measurements_per_bin = 1;
  int bins = 1;  ///< of each chain

  std::uint64_t seed = 0;
  std::uint32_t point = 0;  ///< temperature
  std::uint32_t iteration = 0;
};

/// Bath function in time and at the frequencies of G4.
struct bath_function {
  std::shared_ptr<const g0_table> g0;
  std::vector<std::complex<double>> g0_frequency;
};

/// Whole problem; functions take the part that they depend on.
struct problem {
  cluster_model model;
  move_rules moves;
  measurement_list measured;
  chain_rules rules;
  /// [chain] bath of each chain where these differ; empty where all chains have the model's.
  std::vector<std::shared_ptr<const bath_function>> baths;

  /// Returns the problem with the bath of chain c. Throws std::out_of_range for a chain without a bath.
  problem for_chain(std::size_t c) const {
    problem own{model, moves, measured, rules, {}};
    if (!baths.empty()) {
      own.model.g0 = baths.at(c)->g0;
      own.measured.g0_frequency = baths[c]->g0_frequency;
    }
    return own;
  }
};

}  // namespace plaq::dca
