#include "plaq/pic/window.hpp"

#include <algorithm>

namespace plaq::pic {

template <class T>
parcel<T> shift(const plan& p, patch<T>& me) {
  const block& m = me.mesh;
  const bool first = me.walls[0][0], last = me.walls[0][1];
  for (auto* field : {&me.f.e, &me.f.b})
    for (auto& component : *field)
      each_row(m, with_guards(m), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
        T* row = component.data() + at;
        std::copy(row + 1, row + n, row);
        // Behind the side of the box there are images; what comes in is empty at first.
        const std::ptrdiff_t empty = last ? m.guard[0] + m.cells[0] - 1 : n - 1;
        std::fill(row + empty, row + n, T(0));
      });
  me.layers.shift(m);
  parcel<T> out{.shift = {-1, 0, 0}, .kinds = std::vector<particles<T>>(p.kinds.size())};
  for (std::size_t s = 0; s < p.kinds.size(); ++s) {
    auto& all = me.kinds[s];
    for (auto& cell : all.cell[0]) --cell;
    std::vector<std::size_t> gone;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all.cell[0][i] < 0) gone.push_back(i);
    for (const auto i : gone) {
      if (first) {
        me.next[record::at(s, record::left)] += 1;
        me.next[record::at(s, record::left_weight)] += double(all.w[i]);
      } else {
        out.kinds[s].append(all, i, m.dimensions);
      }
    }
    for (auto i = gone.rbegin(); i != gone.rend(); ++i) all.remove(*i, m.dimensions);
  }
  ++me.mesh.first[0];
  return out;
}

template parcel<float> shift(const plan&, patch<float>&);
template parcel<double> shift(const plan&, patch<double>&);

}  // namespace plaq::pic
