// A patch: the element that moves between ranks, and what it does in a step.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/pic/absorbing.hpp"
#include "plaq/pic/conductors.hpp"
#include "plaq/pic/emission.hpp"
#include "plaq/pic/kernels.hpp"
#include "plaq/pic/record.hpp"
#include "plaq/pic/walls.hpp"

namespace plaq::pic {

/// Its fields, with guard cells, and the particles in its own cells. Between steps E and B are those of t, with
/// guards, positions those of t, momenta those of t - dt/2.
template <class T>
struct patch {
  int number = 0;
  int rank = 0;            ///< that it is on
  std::int64_t step = 0;   ///< how many it has done
  std::int64_t in = 0;     ///< the step that it is in, or was in last, from 1 on: for errors
  std::uint64_t born = 0;  ///< particles that have got their id here
  block mesh;
  sides walls{};  ///< its sides that are sides of the box
  fields<T> f;
  std::vector<particles<T>> kinds;
  std::vector<tile> tiles;                ///< of emitters
  std::vector<T> plates;                  ///< charge density that particles have left on plates within the box
  std::array<std::vector<T>, 3> outside;  ///< E from outside, that particles of an electrostatic run feel too; or empty
  std::vector<T> background;              ///< div E - rho where Gauss's law is looked at, as it was at the start
  absorbing<T> layers;
  solid solids;
  std::vector<under_way<T>> coming;      ///< particles of each species that have come, and go on in this step
  std::vector<std::uint64_t> travelled;  ///< how many particles of each species were followed in this step
  std::vector<double> now;               ///< of this step, as record.hpp says
  std::vector<double> next;              ///< what came and left since the last step, for the record of the next
  std::vector<double> done;              ///< of the steps since the last time that they were asked for

  patch() = default;
  patch(const plan& p, const point& at);

  void serialize(archive& ar) {
    ar(number, rank, step, in, born, mesh, walls, f, kinds, tiles, plates, outside, background, layers, solids, coming,
       travelled, now, next, done);
  }
  std::size_t size() const;     ///< particles
  std::size_t waiting() const;  ///< those that have come and go on in this step
  std::string moment() const { return "step " + std::to_string(in); }
  /// For a particle that begins here: no other one has it, of whatever species, and none will. It depends on the
  /// patches, as particles do, but not on ranks.
  std::uint64_t new_id(const plan& p);
};

/// From a patch to the neighbour at `shift`: the current in the guard cells that are its own, and the particles
/// that are in it now; only these where a window moves. `passing`: those that have come to its side, and go on there.
/// Cells are counted from the side that they came in by: -1 is the last one, 0 the first.
template <class T>
struct parcel {
  point shift{};
  std::vector<T> current = {};
  std::vector<particles<T>> kinds = {};
  std::vector<under_way<T>> passing = {};
  void serialize(archive& ar) { ar(shift, current, kinds, passing); }
};
/// E and B in the cells that are guards of the neighbour at `shift`; or the charge in guard cells that are its own.
template <class T>
struct halo {
  point shift{};
  std::vector<T> values = {};
  void serialize(archive& ar) { ar(shift, values); }
};

// A step is: push, send parcels, take them, count; advance_fields, send halos, take them, complete_fields; complete. In
// an electrostatic one a way may lead through several patches: after push and take there is go_on, whose parcels are
// sent and taken, as often as particles wait in any patch; then count, the charge, set_electric, complete.

/// Particles, and the current that they make; the parcels for the neighbours at these shifts. Throws
/// runtime_failure that names the species where a momentum is no number.
template <class T>
std::vector<parcel<T>> push(const plan& p, patch<T>& me, const std::vector<point>& shifts);
/// The particles that have come and are within their step go on, to its end or another patch.
template <class T>
std::vector<parcel<T>> go_on(const plan& p, patch<T>& me, const std::vector<point>& shifts);
template <class T>
void take(const plan& p, patch<T>& me, parcel<T>&& came);
/// All particles are counted, with those that the parcels have brought; conductors take theirs.
template <class T>
void count(const plan& p, patch<T>& me);
/// E by a step, B by half of one.
template <class T>
void advance_fields(const plan& p, patch<T>& me);
template <class T>
halo<T> edge_for(const patch<T>& me, const point& shift);
template <class T>
void take(patch<T>& me, const halo<T>& came);
/// The rest of B.
template <class T>
void complete_fields(const plan& p, patch<T>& me);
/// E = -grad phi and what comes from outside instead, phi as poisson.hpp gives it.
template <class T>
void set_electric(const plan& p, patch<T>& me, const std::vector<double>& phi);
/// The record of the step.
template <class T>
void complete(const plan& p, patch<T>& me);

/// Of rho: begin, send the guards, take them, end.
template <class T>
void begin_charge(const plan& p, patch<T>& me);
template <class T>
halo<T> charge_for(const patch<T>& me, const point& shift);
template <class T>
void take_charge(patch<T>& me, const halo<T>& came);
/// Puts the largest change of div E - rho since the start into the last record.
template <class T>
void look_at_gauss(const plan& p, patch<T>& me);

/// Fields that have been given in own cells, and whose halos have been taken, at the sides and in the layers.
template <class T>
void begin_fields(patch<T>& me);
/// Momenta from t = 0 to -dt/2, and div E - rho becomes the background.
template <class T>
void begin(const plan& p, patch<T>& me);

}  // namespace plaq::pic
