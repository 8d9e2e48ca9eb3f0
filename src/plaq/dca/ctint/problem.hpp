// Problem of one iteration of the interaction expansion: all that stays fixed while its chains run.
#pragma once
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/dca/walk/configuration.hpp"
#include "plaq/dca/walk/g0_table.hpp"

namespace plaq::dca::ctint {

/// Leg of a vertex: c^dagger_create c_annihilate - alpha, in one block of the determinant.
struct leg {
  int block = 0;
  std::vector<int> create, annihilate;  ///< [cell] flavours for a vertex at this cell
  std::vector<double> alpha;            ///< [s]
};

/// Term sum_cells sum_s weight_s leg_0 leg_1 of the Hamiltonian; leg_0 stands left.
struct vertex_type {
  std::array<leg, 2> legs;
  std::vector<double> weight;  ///< [s]
  /// Type that undoes what this one changes; vertices of both are also inserted and removed in pairs. -1: none.
  int partner = -1;
};

/// Involution of vertices, [type][s] of (type, s): the reversal of the spins of a cell, or of one orbital there. Types
/// whose entry is empty stay as they are.
using reversal = std::vector<std::vector<std::array<int, 2>>>;

/// Cluster in its bath. Flavour x = cell * orbitals + orbital. Blocks of the determinant are not mixed by the bath;
/// those of one species have the same bath function.
struct interacting_cluster {
  double beta;
  int cells, orbitals;
  std::vector<int> species;                         ///< [block]
  std::vector<std::shared_ptr<const g0_table>> g0;  ///< [species], with flavours as sites
  std::vector<vertex_type> types;
  std::vector<reversal> reversals{};
  momentum_tables momenta{};  ///< of the cells, for two-particle functions

  int flavours() const { return cells * orbitals; }
  int blocks() const { return int(species.size()); }
  const g0_table& bath(int block) const { return *g0[std::size_t(species[std::size_t(block)])]; }
};

/// Throws a runtime_failure where parts of the cluster do not fit each other.
inline void check_consistent(const interacting_cluster& c) {
  check(c.beta > 0 && c.cells > 0 && c.orbitals > 0, "ctint: beta, cells and orbitals must be positive");
  for (const auto& table : c.g0)
    check(table && table->sites() == c.flavours() && table->beta() == c.beta, "ctint: g0 belongs to another problem");
  for (const int s : c.species) check(s >= 0 && s < int(c.g0.size()), "ctint: a block has no bath");
  for (const vertex_type& t : c.types) {
    for (const leg& l : t.legs) {
      check(l.block >= 0 && l.block < c.blocks(), "ctint: a leg lies in no block");
      check(l.create.size() == std::size_t(c.cells) && l.annihilate.size() == l.create.size(),
            "ctint: legs need flavours for every cell");
      for (const auto* flavours : {&l.create, &l.annihilate})
        for (const int x : *flavours) check(x >= 0 && x < c.flavours(), "ctint: a leg has an unknown flavour");
      check(l.alpha.size() == t.weight.size(), "ctint: alpha and weight of a vertex have unequal lengths");
    }
    check(t.partner < int(c.types.size()) && (t.partner < 0 || c.types[std::size_t(t.partner)].partner >= 0),
          "ctint: the partner of a type has none");
    for (const double w : t.weight) check(std::isfinite(w) && w != 0, "ctint: weights must be finite, and not 0");
  }
}

/// Throws a runtime_failure where a map is no involution of the vertices.
inline void check_involution(const interacting_cluster& c, const reversal& by) {
  check(by.size() == c.types.size(), "ctint: a reversal needs all types");
  const auto image_of = [&](int type, int s) {
    const auto& images = by[std::size_t(type)];
    return s >= 0 && s < int(images.size()) ? images[std::size_t(s)] : std::array{-1, -1};
  };
  for (int t = 0; t < int(by.size()); ++t) {
    const std::size_t count = by[std::size_t(t)].size();
    check(count == 0 || count == c.types[std::size_t(t)].weight.size(), "ctint: a reversal needs all s of a type");
    for (int s = 0; s < int(count); ++s) {
      const auto [type, image] = image_of(t, s);
      check(type >= 0 && type < int(by.size()) && image_of(type, image) == std::array{t, s},
            "ctint: a reversal is no involution");
    }
  }
}

/// Parameters of the walkers' moves.
struct move_rules {
  int proposals_per_sweep = 1;
  int sweeps_between_rebuilds = 20;
};

/// Two-particle function to be measured, pp or ph, at transfer (Q, m).
struct pair_request {
  bool pairs;    ///< pp
  int transfer;  ///< index of Q
  int bosonic;   ///< m
};

/// Two-particle functions, at frequencies n = -window ... window - 1.
struct two_particle_list {
  int window = 0;                        ///< 0 measures none
  int frequencies = 0;                   ///< window + the largest |m|
  std::vector<std::complex<double>> g0;  ///< [species][K][a][b][n], n = 0 ... frequencies - 1
  std::vector<pair_request> requests;
};

/// List of the measurements.
struct measurement_list {
  std::vector<int> odd_frequencies;  ///< of the single-particle function, n > 0 odd
  int histogram_size = 1;            ///< orders 0 ... size - 1; the last one counts all above
  two_particle_list two_particle;
};

/// Bath functions in time and at the frequencies of two-particle functions.
struct bath_functions {
  std::vector<std::shared_ptr<const g0_table>> g0;  ///< [species]
  std::vector<std::complex<double>> g0_frequency;
};

/// Whole problem; functions take the part that they depend on.
struct problem {
  interacting_cluster model;
  move_rules moves;
  measurement_list measured;
  chain_rules rules;
  /// [chain] bath of each chain where these differ; empty where all chains have the model's.
  std::vector<std::shared_ptr<const bath_functions>> baths;

  /// Returns the problem with the bath of chain c. Throws std::out_of_range for a chain without a bath.
  problem for_chain(std::size_t c) const {
    problem own{model, moves, measured, rules, {}};
    if (!baths.empty()) {
      own.model.g0 = baths.at(c)->g0;
      own.measured.two_particle.g0 = baths[c]->g0_frequency;
    }
    return own;
  }
};

/// Operators of one leg of a vertex of the configuration.
struct placed_leg {
  int create, annihilate;  ///< flavours
  double tau;
  double alpha;
};

/// A vertex is stored as dca::vertex: site = type * cells + cell, spin = s, tau.
class placement {
 public:
  explicit placement(const interacting_cluster& c) : cluster_(c) {}

  int type_of(const vertex& v) const { return v.site / cluster_.cells; }
  placed_leg operator()(const vertex& v, int side) const {
    const std::size_t cell = std::size_t(v.site % cluster_.cells);
    const leg& l = cluster_.types[std::size_t(type_of(v))].legs[std::size_t(side)];
    return {l.create[cell], l.annihilate[cell], v.tau, l.alpha[std::size_t(v.spin)]};
  }
  /// Returns whether a reversal changes a vertex, which it does.
  bool reverse(const reversal& by, vertex& v) const {
    const auto& images = by[std::size_t(type_of(v))];
    if (images.empty()) return false;
    const auto [type, s] = images[std::size_t(v.spin)];
    v.site = type * cluster_.cells + v.site % cluster_.cells;
    v.spin = s;
    return true;
  }
  double weight(const vertex& v) const { return cluster_.types[std::size_t(type_of(v))].weight[std::size_t(v.spin)]; }
  bool contains(const vertex& v) const {
    return v.site >= 0 && v.site < int(cluster_.types.size()) * cluster_.cells && v.spin >= 0 &&
           v.spin < int(cluster_.types[std::size_t(type_of(v))].weight.size()) && v.tau >= 0 && v.tau < cluster_.beta;
  }

 private:
  const interacting_cluster& cluster_;
};

/// Element D = <c_annihilate c^dagger_create> of the determinant, -g0, between legs of different vertices.
inline double element(const g0_table& g0, const placed_leg& row, const placed_leg& column) {
  return -g0(row.annihilate, row.tau, column.create, column.tau);
}
/// Element between the legs of one vertex. The left leg counts as the later one, and c^dagger stands left of c.
inline double element_within(const g0_table& g0, const placed_leg& row, const placed_leg& column, bool left_to_right) {
  if (left_to_right) return -g0(row.annihilate, 0., column.create, 0.);
  return g0.before(row.annihilate, column.create);
}

}  // namespace plaq::dca::ctint
