#include "plaq/pic/conductors.hpp"

#include <map>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

namespace {

std::map<std::int64_t, double> all_of(const plan& p) {
  std::map<std::int64_t, double> out;
  for (const conductor& one : p.conductors)
    for (const auto n : one.nodes) out[n] = one.potential;
  return out;
}

/// A node of the box, around it where it is periodic; below 0 where it is none.
std::int64_t number_around(const plan& p, point at) {
  for (int d = 0; d < p.dimensions; ++d) {
    if (p.periodic(d)) at[d] = (at[d] % p.cells[d] + p.cells[d]) % p.cells[d];
    if (at[d] < 0 || at[d] >= p.nodes(d)) return -1;
  }
  return number_of_node(p, at);
}

}  // namespace

std::vector<std::pair<std::int64_t, double>> surface_of(const plan& p) {
  const auto all = all_of(p);
  std::vector<std::pair<std::int64_t, double>> out;
  for (const auto& [number, potential] : all) {
    const std::int64_t row = p.nodes(0), plane = row * p.nodes(1);
    const point at{int(number % row), int(number % plane / row), int(number / plane)};
    bool inside = true, on_side = false;
    for (int d = 0; d < p.dimensions; ++d) {
      on_side = on_side || (!p.periodic(d) && (at[d] == 0 || at[d] == p.cells[d]));  // which has a potential already
      for (const int by : {-1, 1}) {
        point next = at;
        next[d] += by;
        const auto there = number_around(p, next);
        inside = inside && (there < 0 || all.contains(there));
      }
    }
    if (!inside && !on_side) out.emplace_back(number, potential);
  }
  return out;
}

solid::solid(const plan& p, const block& m) {
  if (p.conductors.empty()) return;
  const auto all = all_of(p);
  nodes.resize(m.size()), cells.resize(m.size());
  const region r = with_guards(m);
  point at;
  const auto each = [&](auto use) {
    for (at[2] = r.low[2]; at[2] < r.high[2]; ++at[2])
      for (at[1] = r.low[1]; at[1] < r.high[1]; ++at[1])
        for (at[0] = r.low[0]; at[0] < r.high[0]; ++at[0]) use(std::size_t(m.index(at)));
  };
  each([&](std::size_t i) {
    nodes[i] = all.contains(number_around(p, {m.first[0] + at[0], m.first[1] + at[1], m.first[2] + at[2]}));
  });
  each([&](std::size_t i) {
    bool full = true;
    for (int corner = 0; corner < 1 << m.dimensions; ++corner) {
      std::size_t to = i;
      for (int d = 0; d < m.dimensions; ++d)
        if (corner >> d & 1) {
          full = full && at[d] + 1 < r.high[d];
          to += std::size_t(m.stride[d]);
        }
      full = full && nodes[to];
    }
    cells[i] = full;
  });
}

template <class T>
void shield(patch<T>& me) {
  const auto& held = me.solids.nodes;
  if (held.empty()) return;
  for (int c = 0; c < 3; ++c)
    each_row(me.mesh, own(me.mesh), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i)
        if (held[std::size_t(i)] && held[std::size_t(i + me.mesh.stride[c])])
          me.f.e[std::size_t(c)][std::size_t(i)] = 0;
    });
}

template <class T>
void absorb(const plan& p, patch<T>& me) {
  if (me.solids.cells.empty()) return;
  const block& m = me.mesh;
  for (std::size_t s = 0; s < p.kinds.size(); ++s) {
    auto& all = me.kinds[s];
    double* row = me.now.data() + record::at(s, 0);
    for (std::size_t i = all.size(); i-- > 0;) {
      point cell{};
      for (int d = 0; d < m.dimensions; ++d) cell[d] = all.cell[d][i];
      if (!me.solids.cells[std::size_t(m.index(cell))]) continue;
      row[record::absorbed] += 1, row[record::absorbed_weight] += double(all.w[i]);
      row[record::weight] -= double(all.w[i]);
      all.remove(i, m.dimensions);
    }
  }
}

#define PLAQ_PIC_FOR(T)            \
  template void shield(patch<T>&); \
  template void absorb(const plan&, patch<T>&);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic
