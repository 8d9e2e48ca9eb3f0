#include "plaq/pic/processes/filter.hpp"

#include "plaq/pic/fields/field_boundaries.hpp"

namespace plaq::pic {

namespace {

/// Calls use(array) for the components of J, or for rho.
template <class Fields, class Use>
void for_each_array(Fields& f, source which, Use use) {
  if (which == source::charge) return use(f.rho);
  for (auto& component : f.j) use(component);
}

/// Smooths own cells of a field with guards; `scratch` is of any content.
template <class T>
void smooth(const patch_grid& m, T middle, std::vector<T>& field, std::vector<T>& scratch) {
  const T side = (1 - middle) / 2;
  for (int d = 0; d < m.dimensions; ++d) {
    region r = with_guards(m);
    for (int t = 0; t <= d; ++t) r.low[t] = 0, r.high[t] = m.cells[t];
    const auto s = m.stride[d];
    scratch = field;
    for_each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      T* __restrict out = field.data() + at;
      const T* __restrict in = scratch.data() + at;
      for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = middle * in[i] + side * (in[i - s] + in[i + s]);
    });
  }
}

}  // namespace

template <class T>
halo<T> make_source_halo(const patch<T>& self, source which, const point& shift) {
  halo<T> out{shift};
  const region r = edge_towards(self.mesh, shift);
  for_each_array(self.f, which, [&](const auto& field) { append(self.mesh, r, field, out.values); });
  return out;
}

template <class T>
void receive_source(patch<T>& self, source which, const halo<T>& from_neighbour) {
  const region r = guards_towards(self.mesh, opposite(from_neighbour.shift));
  const T* values = from_neighbour.values.data();
  for_each_array(self.f, which, [&](auto& field) { values = put(self.mesh, r, values, field); });
}

template <class T>
void filter_source(const plan& p, patch<T>& self, source which, int pass) {
  if (which == source::current)
    mirror_current(self.mesh, self.walls, self.f);
  else
    mirror_charge(self.mesh, self.walls, self.f);
  const T middle = pass < p.filter_passes ? T(0.5) : T(1 + 0.5 * p.filter_passes);
  std::vector<T> scratch;
  for_each_array(self.f, which, [&](auto& field) { smooth(self.mesh, middle, field, scratch); });
}

#define PLAQ_PIC_FOR(T)                                                     \
  template halo<T> make_source_halo(const patch<T>&, source, const point&); \
  template void receive_source(patch<T>&, source, const halo<T>&);          \
  template void filter_source(const plan&, patch<T>&, source, int);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic
