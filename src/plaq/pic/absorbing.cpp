#include "plaq/pic/absorbing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/pic/slopes.hpp"

namespace plaq::pic {

namespace {

constexpr double reflection = 1e-8;

/// The planes low ... high - 1 in dimension d, as far as they are in r.
region planes(region r, int d, int low, int high) {
  r.low[d] = std::max(r.low[d], low);
  r.high[d] = std::max(r.low[d], std::min(r.high[d], high));
  return r;
}

/// For every cell of the region: psi <- keep psi + (keep - 1) dF/dx, then field += by psi. `back`: the derivative
/// is the one to the cell before. `keep` begins with plane `low`.
template <class T>
void one_component(const block& m, int d, const region& r, int low, const std::vector<T>& keep, bool back, T by,
                   const std::vector<T>& of, std::vector<T>& psi, std::vector<T>& field) {
  const auto s = m.stride[d];
  const T over = T(1 / m.spacing[d]);
  std::size_t n = 0;
  point at;
  for (at[2] = r.low[2]; at[2] < r.high[2]; ++at[2])
    for (at[1] = r.low[1]; at[1] < r.high[1]; ++at[1])
      for (at[0] = r.low[0]; at[0] < r.high[0]; ++at[0], ++n) {
        const T b = keep[std::size_t(at[d] - low)];
        const std::ptrdiff_t i = m.index(at);
        const T rise = back         ? over * (of[i] - of[i - s])
                       : m.smoothed ? difference(m, d, of.data() + i)
                                    : over * (of[i + s] - of[i]);
        psi[n] = b * psi[n] + (b - 1) * rise;
        field[i] += by * psi[n];
      }
}

/// Where differences across dimension d are known, for the B around own cells.
region around(const block& m) {
  region r = with_guards(m);
  for (int d = 0; m.smoothed && d < m.dimensions; ++d) ++r.low[d], --r.high[d];
  return r;
}

}  // namespace

template <class T>
absorbing<T>::absorbing(const plan& p, const block& m) {
  for (int d = 0; d < m.dimensions; ++d)
    for (int side = 0; side < 2; ++side) {
      if (p.borders[d][side] != border::absorbing) continue;
      // Planes of this patch, with guards whose B is advanced here, that are within the layer; not behind the wall.
      const int first = m.first[d], begin = side ? p.cells[d] - p.layer : 0, end = side ? p.cells[d] : p.layer;
      direction one;
      one.low = std::max(begin - first, around(m).low[d]),
      one.high = std::min(end - first, m.cells[d] + m.guard[d] - 1);
      if (one.low >= one.high) continue;
      const double depth = p.layer * m.spacing[d], most = -4 * std::log(reflection) / (2 * depth);
      const auto keep = [&](double at, double dt) {  // at: a place in cells of the box
        const double deep = std::clamp(side ? at - begin : end - at, 0.0, double(p.layer)) / p.layer;
        return T(std::exp(-most * deep * deep * deep * dt));
      };
      for (int i = one.low; i < one.high; ++i) {
        one.keep_e.push_back(keep(first + i, p.dt));
        one.keep_b.push_back(keep(first + i + 0.5, 0.5 * p.dt));
      }
      for (auto& psi : one.of_e) psi.assign(planes(own(m), d, one.low, one.high).size(), T(0));
      for (auto& psi : one.of_b) psi.assign(planes(around(m), d, one.low, one.high).size(), T(0));
      along_[std::size_t(d)].push_back(std::move(one));
    }
}

// With d the normal and (d, a, b) in cyclic order: dE_a/dt = -dB_b/dx_d + ..., dE_b/dt = dB_a/dx_d + ..., and for
// B with the other signs.
template <class T>
void absorbing<T>::advance_e(const block& m, fields<T>& f) {
  for (int d = 0; d < 3; ++d)
    for (direction& one : along_[std::size_t(d)]) {
      const int a = (d + 1) % 3, b = (d + 2) % 3;
      const region r = planes(own(m), d, one.low, one.high);
      one_component(m, d, r, one.low, one.keep_e, true, T(-m.dt), f.b[b], one.of_e[0], f.e[a]);
      one_component(m, d, r, one.low, one.keep_e, true, T(m.dt), f.b[a], one.of_e[1], f.e[b]);
    }
}

template <class T>
void absorbing<T>::advance_b(const block& m, fields<T>& f) {
  for (int d = 0; d < 3; ++d)
    for (direction& one : along_[std::size_t(d)]) {
      const int a = (d + 1) % 3, b = (d + 2) % 3;
      const region r = planes(around(m), d, one.low, one.high);
      one_component(m, d, r, one.low, one.keep_b, false, T(0.5 * m.dt), f.e[b], one.of_b[0], f.b[a]);
      one_component(m, d, r, one.low, one.keep_b, false, T(-0.5 * m.dt), f.e[a], one.of_b[1], f.b[b]);
    }
}

template <class T>
void absorbing<T>::shift(const block& m) {
  for (direction& one : along_[0])
    for (const auto& [all, where] : {std::pair(&one.of_e, own(m)), std::pair(&one.of_b, around(m))}) {
      const region r = planes(where, 0, one.low, one.high);
      const std::ptrdiff_t row = r.high[0] - r.low[0];
      for (auto& psi : *all)
        for (auto at = psi.begin(); at != psi.end(); at += row) {
          std::copy(at + 1, at + row, at);
          *(at + row - 1) = T(0);
        }
    }
}

template class absorbing<float>;
template class absorbing<double>;

}  // namespace plaq::pic
