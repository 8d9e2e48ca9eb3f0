#include "plaq/pic/processes/moving_window.hpp"

#include <algorithm>

namespace plaq::pic {

template <class T>
parcel<T> shift_patch(const plan& p, patch<T>& self) {
  const patch_grid& m = self.mesh;
  const bool first = self.walls[0][0], last = self.walls[0][1];
  for_each_part(self.f, [&](auto& part) {
    for (auto* field : {&part.e, &part.b})
      for (auto& component : *field)
        for_each_row(m, with_guards(m), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
          T* row = component.data() + at;
          std::copy(row + 1, row + n, row);
          // Cells behind the side of the box are images; the cell that enters is empty at first.
          const std::ptrdiff_t empty = last ? m.guard[0] + m.cells[0] - 1 : n - 1;
          std::fill(row + empty, row + n, T(0));
        });
  });
  parcel<T> out{.shift = {-1, 0, 0}};
  out.layers = self.layers.shift_window(m);
  for (auto& layers : self.mode_layers) layers.shift_window(m);
  for (std::size_t s = 0; s < p.species_list.size(); ++s) {
    auto& all = self.species[s];
    for (auto& cell : all.cell[0]) --cell;
    std::vector<std::size_t> leaving;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all.cell[0][i] < 0) leaving.push_back(i);
    for (const auto i : leaving) {
      if (first) {
        self.next_row[record::at(s, record::left)] += 1;
        self.next_row[record::at(s, record::left_weight)] += double(all.w[i]);
      } else {
        out.particles.push_back(all.sent(int(s), i, m.dimensions));
      }
    }
    for (auto i = leaving.rbegin(); i != leaving.rend(); ++i) all.remove(*i, m.dimensions);
  }
  ++self.mesh.first[0];
  return out;
}

template parcel<float> shift_patch(const plan&, patch<float>&);
template parcel<double> shift_patch(const plan&, patch<double>&);

}  // namespace plaq::pic
