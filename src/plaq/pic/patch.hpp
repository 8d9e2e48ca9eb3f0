// A patch: the element that moves between ranks, and what it does in a step.
#pragma once
#include <array>
#include <cstdint>
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
  std::uint64_t born = 0;  ///< particles that have got their id here
  block mesh;
  sides walls{};  ///< its sides that are sides of the box
  fields<T> f;
  std::vector<particles<T>> kinds;
  std::vector<tile> tiles;    ///< of emitters
  std::vector<T> plates;      ///< charge density that particles have left on plates within the box
  std::vector<T> background;  ///< div E - rho where Gauss's law is looked at, as it was at the start
  absorbing<T> layers;
  solid solids;
  std::vector<double> now;   ///< of this step, as record.hpp says
  std::vector<double> next;  ///< what came and left since the last step, for the record of the next
  std::vector<double> done;  ///< of the steps since the last time that they were asked for

  patch() = default;
  patch(const plan& p, const point& at);

  void serialize(archive& ar) {
    ar(number, rank, step, born, mesh, walls, f, kinds, tiles, plates, background, layers, solids, now, next, done);
  }
  std::size_t size() const;  ///< particles
  /// For a particle that begins here: no other one has it, of whatever species, and none will. It depends on the
  /// patches, as particles do, but not on ranks.
  std::uint64_t new_id(const plan& p);
};

/// From a patch to the neighbour at `shift`: the current in the guard cells that are its own, and the particles
/// that are in it now; only these where a window moves. Their cells are counted from the side that they came in
/// by: -1 is the last one, 0 the first.
template <class T>
struct parcel {
  point shift{};
  std::vector<T> current = {};
  std::vector<particles<T>> kinds = {};
  void serialize(archive& ar) { ar(shift, current, kinds); }
};
/// E and B in the cells that are guards of the neighbour at `shift`; or the charge in guard cells that are its own.
template <class T>
struct halo {
  point shift{};
  std::vector<T> values = {};
  void serialize(archive& ar) { ar(shift, values); }
};

// A step is: push, send parcels, take them, count; advance_fields, send halos, take them, complete_fields, or else
// the charge and set_electric; complete.

/// Particles, and the current that they make; the parcels for the neighbours at these shifts. Throws
/// runtime_failure that names the species where a momentum is no number.
template <class T>
std::vector<parcel<T>> push(const plan& p, patch<T>& me, const std::vector<point>& shifts);
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
/// E = -grad phi instead, phi as poisson.hpp gives it.
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

/// Momenta from t = 0 to -dt/2, and div E - rho becomes the background; fields have been given in the patch's own
/// cells, and their halos been taken.
template <class T>
void begin(const plan& p, patch<T>& me);

}  // namespace plaq::pic
