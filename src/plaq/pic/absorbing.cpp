#include "plaq/pic/absorbing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/pic/slopes.hpp"

namespace plaq::pic {

namespace {

constexpr double most_loss = 3.2, most_stretch = 0.5, most_shift = 0.05;  // sigma dx, kappa - 1, alpha dx

/// The planes low ... high - 1 in dimension d, as far as they are in r.
region planes(region r, int d, int low, int high) {
  r.low[d] = std::max(r.low[d], low);
  r.high[d] = std::max(r.low[d], std::min(r.high[d], high));
  return r;
}

/// use(n, i, plane, dF/dx_d) for every cell of the region, the n-th one, at i of the block. `back`: the derivative is
/// the one to the cell before.
template <class T, class Use>
void each_derivative(const block& m, int d, const region& r, bool back, const std::vector<T>& of, Use use) {
  const auto s = m.stride[d];
  const T over = T(1 / m.spacing[d]);
  std::size_t n = 0;
  point at;
  for (at[2] = r.low[2]; at[2] < r.high[2]; ++at[2])
    for (at[1] = r.low[1]; at[1] < r.high[1]; ++at[1])
      for (at[0] = r.low[0]; at[0] < r.high[0]; ++at[0], ++n) {
        const std::ptrdiff_t i = m.index(at);
        use(n, std::size_t(i), at[d],
            back         ? over * (of[i] - of[i - s])
            : m.smoothed ? difference(m, d, of.data() + i)
                         : over * (of[i + s] - of[i]));
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
      const double h = m.spacing[d];
      const auto add = [&](factors& to, double at) {  // at: a place in cells of the box
        const double deep = std::clamp(side ? at - begin : end - at, 0.0, double(p.layer)) / p.layer;
        const double sigma = most_loss / h * deep * deep * deep, kappa = 1 + most_stretch * deep * deep * deep,
                     alpha = most_shift / h * (1 - deep), b = std::exp(-(sigma / kappa + alpha) * p.dt);
        to.keep.push_back(T(b));
        to.gain.push_back(T(sigma > 0 ? (b - 1) * sigma / (kappa * (sigma + kappa * alpha)) : 0));
        to.rest.push_back(T(1 / kappa - 1));
      };
      for (int i = one.low; i < one.high; ++i) add(one.at_e, first + i), add(one.at_b, first + i + 0.5);
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
    for (direction& one : along_[std::size_t(d)])
      for (std::size_t c = 0; c < 2; ++c) {
        const int a = (d + 1 + int(c)) % 3, b = (d + 2 - int(c)) % 3;
        const T by = T(c ? m.dt : -m.dt);
        each_derivative(m, d, planes(own(m), d, one.low, one.high), true, f.b[b],
                        [&](std::size_t n, std::size_t i, int plane, T rise) {
                          const auto k = std::size_t(plane - one.low);
                          T& psi = one.of_e[c][n];
                          psi = one.at_e.keep[k] * psi + one.at_e.gain[k] * rise;
                          f.e[a][i] += by * (psi + one.at_e.rest[k] * rise);
                        });
      }
}

template <class T>
void absorbing<T>::renew_b(const block& m, const fields<T>& f) {
  for (int d = 0; d < 3; ++d)
    for (direction& one : along_[std::size_t(d)])
      for (std::size_t c = 0; c < 2; ++c)
        each_derivative(m, d, planes(around(m), d, one.low, one.high), false, f.e[(d + 2 - int(c)) % 3],
                        [&](std::size_t n, std::size_t, int plane, T rise) {
                          const auto k = std::size_t(plane - one.low);
                          one.of_b[c][n] = one.at_b.keep[k] * one.of_b[c][n] + one.at_b.gain[k] * rise;
                        });
}

template <class T>
void absorbing<T>::advance_b(const block& m, fields<T>& f) const {
  for (int d = 0; d < 3; ++d)
    for (const direction& one : along_[std::size_t(d)])
      for (std::size_t c = 0; c < 2; ++c) {
        const int a = (d + 1 + int(c)) % 3, b = (d + 2 - int(c)) % 3;
        const T by = T((c ? -0.5 : 0.5) * m.dt);
        each_derivative(m, d, planes(around(m), d, one.low, one.high), false, f.e[b],
                        [&](std::size_t n, std::size_t i, int plane, T rise) {
                          f.b[a][i] += by * (one.of_b[c][n] + one.at_b.rest[std::size_t(plane - one.low)] * rise);
                        });
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
