// Maxwell's equations of z, r and theta on Yee's mesh: the circulation around the faces of rings, over their area.
#include "plaq/pic/fields/ring_kernels.hpp"

#include <algorithm>

#include "plaq/pic/fields/differences.hpp"

namespace plaq::pic {

namespace {

/// Calls use(i0, n, r) for the rows of a region that are not behind the axis; r: of nodes over the spacing.
template <class Use>
void for_each_ring(const patch_grid& m, region r, Use use) {
  r.low[1] = std::max(r.low[1], -m.first[1]);
  for (int j = r.low[1]; j < r.high[1]; ++j)
    use(m.index({r.low[0], j, 0}), std::ptrdiff_t(r.high[0] - r.low[0]), double(m.first[1] + j));
}

}  // namespace

template <class T>
void advance_ring_b(const patch_grid& m, double turn, const fields<T>& other, fields<T>& f, double dt) {
  const T along = T(dt / m.spacing[0]), across = T(dt / m.spacing[1]);
  const auto up = m.stride[1];
  for_each_ring(m, difference_region(m), [&](std::ptrdiff_t at, std::ptrdiff_t n, double r) {
    const double half = r + 0.5;
    const T outer = T((r + 1) / half) * across, inner = T(r / half) * across, round = T(turn / half) * across,
            round_node = r > 0 ? T(turn / r) * across : T(0);
    const T *ez = f.e[0].data() + at, *er = f.e[1].data() + at, *et = f.e[2].data() + at;
    const T *other_z = other.e[0].data() + at, *other_r = other.e[1].data() + at;
    T *bz = f.b[0].data() + at, *br = f.b[1].data() + at, *bt = f.b[2].data() + at;
    for (std::ptrdiff_t i = 0; i < n; ++i) bz[i] += round * other_r[i] - (outer * et[i + up] - inner * et[i]);
    for (std::ptrdiff_t i = 0; i < n; ++i) br[i] += along * (et[i + 1] - et[i]) - round_node * other_z[i];
    for (std::ptrdiff_t i = 0; i < n; ++i) bt[i] += across * (ez[i + up] - ez[i]) - along * (er[i + 1] - er[i]);
  });
}

template <class T>
void advance_ring_e(const patch_grid& m, double turn, const fields<T>& other, fields<T>& f, double dt) {
  const T along = T(dt / m.spacing[0]), across = T(dt / m.spacing[1]), t = T(dt);
  const auto up = m.stride[1];
  for_each_ring(m, own_cells(m), [&](std::ptrdiff_t at, std::ptrdiff_t n, double r) {
    const bool axis = r == 0;
    const T outer = axis ? 4 * across : T((r + 0.5) / r) * across, inner = axis ? T(0) : T((r - 0.5) / r) * across,
            round = axis ? T(0) : T(turn / r) * across, round_half = T(turn / (r + 0.5)) * across;
    const T *bz = f.b[0].data() + at, *br = f.b[1].data() + at, *bt = f.b[2].data() + at;
    const T *other_z = other.b[0].data() + at, *other_r = other.b[1].data() + at;
    const T *jz = f.j[0].data() + at, *jr = f.j[1].data() + at, *jt = f.j[2].data() + at;
    T *ez = f.e[0].data() + at, *er = f.e[1].data() + at, *et = f.e[2].data() + at;
    for (std::ptrdiff_t i = 0; i < n; ++i) ez[i] += outer * bt[i] - inner * bt[i - up] - round * other_r[i] - t * jz[i];
    for (std::ptrdiff_t i = 0; i < n; ++i) er[i] += round_half * other_z[i] - along * (bt[i] - bt[i - 1]) - t * jr[i];
    for (std::ptrdiff_t i = 0; i < n; ++i)
      et[i] += along * (br[i] - br[i - 1]) - across * (bz[i] - bz[i - up]) - t * jt[i];
  });
}

#define PLAQ_PIC_FOR(T)                                                                          \
  template void advance_ring_b(const patch_grid&, double, const fields<T>&, fields<T>&, double); \
  template void advance_ring_e(const patch_grid&, double, const fields<T>&, fields<T>&, double);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic
