// Patch: the element of a plasma that moves between ranks, and the messages between patches.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/pic/fields/absorbing.hpp"
#include "plaq/pic/fields/conductors.hpp"
#include "plaq/pic/mesh/fields.hpp"
#include "plaq/pic/mesh/plates.hpp"
#include "plaq/pic/mesh/record.hpp"
#include "plaq/pic/particles/particles.hpp"

namespace plaq::pic {

/// Circuit at the end of a step: potential and charge of its electrode, its current, and the charge that has passed
/// through it; and those of the step before.
struct circuit_state {
  double potential = 0, charge = 0, current = 0, current_before = 0, passed = 0, passed_before = 0;
  void serialize(archive& ar) { ar(potential, charge, current, current_before, passed, passed_before); }
};

/// Fields of a patch, with guard cells, and the particles in its own cells. Between steps E and B are those of t, with
/// guards, positions those of t, momenta those of t - dt/2.
template <class T>
struct patch {
  int number = 0;
  int rank = 0;                  ///< that holds it
  std::int64_t step = 0;         ///< steps completed
  std::int64_t latest_step = 0;  ///< step in progress, or the last one, from 1 on: for errors
  std::uint64_t ids = 0;         ///< given to particles here
  bool with_current = true;      ///< whether the step in progress deposits J
  bool sorted = false;           ///< whether all species are sorted by cell
  patch_grid mesh;
  sides walls{};  ///< sides of the patch that are sides of the box
  fields<T> f;
  std::vector<particles<T>> species;
  std::vector<tile> tiles;                 ///< of emitters
  std::vector<T> plate_charge;             ///< charge density on plates within the box and on dielectrics
  std::array<std::vector<T>, 6> external;  ///< fields of the plan from outside where they were last evaluated
  int external_first = 0;                  ///< first[0] of the mesh there
  std::vector<T> background;               ///< div E - rho at the nodes of Gauss's law at the start
  absorbing_layers<T> layers;
  std::vector<absorbing_layers<T>> mode_layers;  ///< of fields::modes
  solid_mask solids;
  std::vector<circuit_state> circuits;               ///< of the plan, the same in all patches
  std::vector<std::vector<double>> unit_potentials;  ///< phi where the electrode of a circuit has 1, others 0
  std::vector<double> arrived_charge;                ///< by electrode, of particles in this step
  std::vector<double> wall_charge;                   ///< of particles of this patch that the nodes of a side hold
  std::vector<moving_particles<T>> arrived;          ///< particles of each species that continue their step here
  std::vector<std::uint64_t> followed_count;         ///< particles of each species that were followed in this step
  std::vector<particles<T>> born;                    ///< particles of each species that sides have emitted in this step
  std::vector<double> row;                           ///< record of this step, see record.hpp
  std::vector<double> next_row;                      ///< arrivals and losses between steps, for the next record
  std::vector<double> rows;                          ///< records since they were last read

  patch() = default;
  patch(const plan& p, const point& at);

  void serialize(archive& ar) {
    ar(number, rank, step, latest_step, ids, mesh, walls, f, species, tiles, plate_charge, background, layers,
       mode_layers, solids, circuits, unit_potentials, arrived_charge, wall_charge, arrived, followed_count, born, row,
       next_row, rows);
  }
  /// Number of particles.
  std::size_t size() const;
  /// Number of particles that have arrived and continue their step.
  std::size_t unfinished() const;
  std::string moment() const { return "step " + std::to_string(latest_step); }
  /// Returns an id that no other particle of any species has or will have. It depends on the patches, as particles do,
  /// but not on ranks.
  std::uint64_t new_id(const plan& p);
};

/// Message to the neighbour at `shift`: the current in the guard cells that are its own, and the particles that are in
/// it at the end of the step, or at its side, where they continue their step; only particles where a window moves.
/// Cells are counted from the side that they enter by: -1 is the last one, 0 the first.
template <class T>
struct parcel {
  point shift{};
  std::vector<T> current = {};
  std::vector<sent_particle<T>> particles = {};  ///< by species
  std::vector<T> layers = {};                    ///< of absorbing sides across x, where a window moves
  void serialize(archive& ar) { ar(shift, current, particles, layers); }
};
/// Message to the neighbour at `shift`: E and B in the cells that are its guards, or the charge in guard cells that are
/// its own.
template <class T>
struct halo {
  point shift{};
  std::vector<T> values = {};
  void serialize(archive& ar) { ar(shift, values); }
};

}  // namespace plaq::pic
