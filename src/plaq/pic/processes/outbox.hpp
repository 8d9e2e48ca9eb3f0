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
  explicit outbox(const std::vector<point>& shifts) {
    parcel_number_.fill(-1);
    parcels.reserve(shifts.size());
    for (const point& s : shifts) {
      parcel_number_[code(s)] = int(parcels.size());
      parcels.push_back({.shift = s});
    }
  }

  /// Adds particle i of species s, which is in another patch; `remaining`: part of the step that it continues there.
  void add(const patch_grid& m, const particles<T>& all, std::size_t s, std::size_t i, double remaining = 0) {
    sent_particle<T> one = all.sent(int(s), i, m.dimensions);
    one.remaining = remaining;
    for (int d = 0; d < m.dimensions; ++d)
      if (one.cell[d] >= m.cells[d]) one.cell[d] -= m.cells[d];
    parcel_for(m, all, i).particles.push_back(one);
  }

  std::vector<parcel<T>> parcels;

 private:
  static std::size_t code(const point& s) { return std::size_t(s[0] + 1 + 3 * (s[1] + 1) + 9 * (s[2] + 1)); }
  parcel<T>& parcel_for(const patch_grid& m, const particles<T>& all, std::size_t i) {
    const int number = parcel_number_[code(shift_of(m, all, i))];
    check(number >= 0, "a particle left the box without crossing a side");
    return parcels[std::size_t(number)];
  }

  std::array<int, 27> parcel_number_;
};

}  // namespace plaq::pic
