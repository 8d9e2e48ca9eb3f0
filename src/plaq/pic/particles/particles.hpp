// Particles of a species in a patch.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

/// Particle in a message to another patch.
template <class T>
struct sent_particle {
  int species = 0;
  std::array<std::int32_t, 3> cell{};
  std::array<T, 3> x{}, u{};
  T w{};
  std::array<T, 2> azimuth{};  ///< in a cylinder with modes, else 0
  double remaining = 0;        ///< part of the step
  std::uint64_t id = 0;        ///< where the species is tracked
};

/// Particles, array by array: a cell of the patch and the position in it, in [0, 1] of the cell, so that single
/// precision is as fine everywhere; momentum per mass; weight; cosine and sine of the azimuth in a cylinder with modes;
/// an id where the species is tracked. Arrays that are not used are empty.
template <class T>
struct particles {
  std::array<std::vector<std::int32_t>, 3> cell;
  std::array<std::vector<T>, 3> x, u;
  std::vector<T> w;
  std::array<std::vector<T>, 2> azimuth;
  std::vector<std::uint64_t> id;

  std::size_t size() const { return w.size(); }
  bool empty() const { return w.empty(); }
  void serialize(archive& ar) { ar(cell, x, u, w, azimuth, id); }

  /// Calls use(array, the same array of `other`) for every array that `other` uses.
  template <class Other, class Use>
  void for_each_array(Other& other, int dimensions, Use use) {
    for (int d = 0; d < dimensions; ++d) use(cell[d], other.cell[d]), use(x[d], other.x[d]);
    for (int c = 0; c < 3; ++c) use(u[c], other.u[c]);
    use(w, other.w);
    if (!other.azimuth[0].empty())
      for (int c = 0; c < 2; ++c) use(azimuth[c], other.azimuth[c]);
    if (!other.id.empty()) use(id, other.id);
  }
  /// Removes all particles; memory stays.
  void clear() {
    for (int d = 0; d < 3; ++d) cell[std::size_t(d)].clear(), x[std::size_t(d)].clear(), u[std::size_t(d)].clear();
    w.clear(), azimuth[0].clear(), azimuth[1].clear(), id.clear();
  }
  /// Appends copies of all particles of another list.
  void append(const particles& other, int dimensions) {
    for_each_array(other, dimensions,
                   [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); });
  }
  /// Appends a copy of particle i of another list.
  void append(const particles& other, std::size_t i, int dimensions) {
    for_each_array(other, dimensions, [i](auto& to, const auto& from) { to.push_back(from[i]); });
  }
  /// Appends a particle that has arrived.
  void append(const sent_particle<T>& one, int dimensions, bool tracked) {
    for (int d = 0; d < dimensions; ++d) cell[d].push_back(one.cell[d]), x[d].push_back(one.x[d]);
    for (int c = 0; c < 3; ++c) u[c].push_back(one.u[c]);
    w.push_back(one.w);
    if (one.azimuth != std::array<T, 2>{})
      for (int c = 0; c < 2; ++c) azimuth[c].push_back(one.azimuth[c]);
    if (tracked) id.push_back(one.id);
  }
  /// Returns particle i for a message.
  sent_particle<T> sent(int species, std::size_t i, int dimensions) const {
    sent_particle<T> one{.species = species, .w = w[i], .id = id.empty() ? 0 : id[i]};
    for (int d = 0; d < dimensions; ++d) one.cell[d] = cell[d][i], one.x[d] = x[d][i];
    for (int c = 0; c < 3; ++c) one.u[c] = u[c][i];
    for (int c = 0; c < 2 && !azimuth[c].empty(); ++c) one.azimuth[c] = azimuth[c][i];
    return one;
  }
  /// Removes particle i; the last one takes its place.
  void remove(std::size_t i, int dimensions) {
    for_each_array(*this, dimensions, [i](auto& to, auto&) {
      to[i] = to.back();
      to.pop_back();
    });
  }
};

/// Particles within a step, and the part of the step that remains for each.
template <class T>
struct moving_particles {
  particles<T> state;
  std::vector<double> remaining;
  void serialize(archive& ar) { ar(state, remaining); }
};

}  // namespace plaq::pic
