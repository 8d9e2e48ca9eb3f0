// Parcels of a patch in a step, one for each neighbour.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Shift of the patch that particle i is in: -1, 0 or 1 in each dimension.
template <class T>
point shift_of(const patch_grid& m, const particles<T>& p, std::size_t i) {
  point s{};
  for (int d = 0; d < m.dimensions; ++d) s[d] = p.cell[d][i] < 0 ? -1 : p.cell[d][i] >= m.cells[d] ? 1 : 0;
  return s;
}

/// Parcels of a patch for its neighbours.
template <class T>
class outbox {
 public:
  outbox(const plan& p, const std::vector<point>& shifts) {
    parcel_number_.fill(-1);
    for (const point& s : shifts) {
      parcel_number_[code(s)] = int(parcels.size());
      parcels.push_back({.shift = s,
                         .species = std::vector<particles<T>>(p.species_list.size()),
                         .passing = std::vector<moving_particles<T>>(p.species_list.size())});
    }
  }

  /// Adds particle i of species s, which has finished its step in another patch.
  void add(const patch_grid& m, const particles<T>& all, std::size_t s, std::size_t i) {
    append_to(m, parcel_for(m, all, i).species[s], all, i);
  }
  /// Adds a particle that continues its step in another patch.
  void add(const patch_grid& m, const particles<T>& all, std::size_t s, std::size_t i, double remaining) {
    auto& passing = parcel_for(m, all, i).passing[s];
    append_to(m, passing.state, all, i);
    passing.remaining.push_back(remaining);
  }

  std::vector<parcel<T>> parcels;

 private:
  static std::size_t code(const point& s) { return std::size_t(s[0] + 1 + 3 * (s[1] + 1) + 9 * (s[2] + 1)); }
  parcel<T>& parcel_for(const patch_grid& m, const particles<T>& all, std::size_t i) {
    const int number = parcel_number_[code(shift_of(m, all, i))];
    check(number >= 0, "a particle left the box without crossing a side");
    return parcels[std::size_t(number)];
  }
  static void append_to(const patch_grid& m, particles<T>& to, const particles<T>& all, std::size_t i) {
    to.append(all, i, m.dimensions);
    for (int d = 0; d < m.dimensions; ++d)
      if (to.cell[d].back() >= m.cells[d]) to.cell[d].back() -= m.cells[d];
  }

  std::array<int, 27> parcel_number_;
};

}  // namespace plaq::pic
