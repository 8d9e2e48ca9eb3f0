#include "plaq/pic/fields/absorbing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/pic/fields/differences.hpp"

namespace plaq::pic {

namespace {

constexpr double max_sigma = 3.2, max_kappa = 0.5, max_alpha = 0.05;  // sigma dx, kappa - 1, alpha dx

/// Returns the planes low ... high - 1 in dimension d, as far as they are in r.
region planes(region r, int d, int low, int high) {
  r.low[d] = std::max(r.low[d], low);
  r.high[d] = std::max(r.low[d], std::min(r.high[d], high));
  return r;
}

/// Calls use(n, i, plane, dF/dx_d) for every cell of the region, the n-th one, at index i. `back`: with the derivative
/// to the cell before.
template <class T, class Use>
void for_each_derivative(const patch_grid& m, int d, const region& r, bool back, const std::vector<T>& of, Use use) {
  const auto s = m.stride[d];
  const T over = T(1 / m.spacing[d]);
  std::size_t n = 0;
  for_each_point(m, r, [&](const point& at, std::ptrdiff_t i) {
    use(n++, std::size_t(i), at[d],
        back         ? over * (of[i] - of[i - s])
        : m.smoothed ? difference(m, d, of.data() + i)
                     : over * (of[i + s] - of[i]));
  });
}

}  // namespace

template <class T>
absorbing_layers<T>::absorbing_layers(const plan& p, const patch_grid& m) {
  for (int d = 0; d < m.dimensions; ++d)
    for (int side = 0; side < 2; ++side) {
      if (p.field_boundaries[d][side] != field_boundary::absorbing) continue;
      // Planes of this patch, with guards whose B is advanced, that are within the layer; not behind the wall.
      const int first = m.first[d], begin = side ? p.cells[d] - p.layer : 0, end = side ? p.cells[d] : p.layer;
      layer side_layer;
      side_layer.low = std::max(begin - first, difference_region(m).low[d]),
      side_layer.high = std::min(end - first, m.cells[d] + m.guard[d] - 1);
      if (side_layer.low >= side_layer.high) continue;
      const double h = m.spacing[d];
      const auto add = [&](factors& to, double at) {  // at: in cells of the box
        const double depth = std::clamp(side ? at - begin : end - at, 0.0, double(p.layer)) / p.layer;
        const double sigma = max_sigma / h * depth * depth * depth, kappa = 1 + max_kappa * depth * depth * depth,
                     alpha = max_alpha / h * (1 - depth), b = std::exp(-(sigma / kappa + alpha) * p.dt);
        to.b.push_back(T(b));
        to.c.push_back(T(sigma > 0 ? (b - 1) * sigma / (kappa * (sigma + kappa * alpha)) : 0));
        to.inverse_kappa.push_back(T(1 / kappa - 1));
      };
      for (int i = side_layer.low; i < side_layer.high; ++i)
        add(side_layer.at_e, first + i), add(side_layer.at_b, first + i + 0.5);
      for (auto& psi : side_layer.psi_e)
        psi.assign(planes(own_cells(m), d, side_layer.low, side_layer.high).size(), T(0));
      for (auto& psi : side_layer.psi_b)
        psi.assign(planes(difference_region(m), d, side_layer.low, side_layer.high).size(), T(0));
      layers_[std::size_t(d)].push_back(std::move(side_layer));
    }
}

// With d the normal and (d, a, b) in cyclic order: dE_a/dt = -dB_b/dx_d + ..., dE_b/dt = dB_a/dx_d + ..., and for
// B with the other signs.
template <class T>
void absorbing_layers<T>::correct_e(const patch_grid& m, fields<T>& f) {
  for (int d = 0; d < 3; ++d)
    for (layer& side_layer : layers_[std::size_t(d)])
      for (std::size_t c = 0; c < 2; ++c) {
        const int a = (d + 1 + int(c)) % 3, b = (d + 2 - int(c)) % 3;
        const T by = T(c ? m.dt : -m.dt);
        for_each_derivative(m, d, planes(own_cells(m), d, side_layer.low, side_layer.high), true, f.b[b],
                            [&](std::size_t n, std::size_t i, int plane, T derivative) {
                              const auto k = std::size_t(plane - side_layer.low);
                              T& psi = side_layer.psi_e[c][n];
                              psi = side_layer.at_e.b[k] * psi + side_layer.at_e.c[k] * derivative;
                              f.e[a][i] += by * (psi + side_layer.at_e.inverse_kappa[k] * derivative);
                            });
      }
}

template <class T>
void absorbing_layers<T>::update_psi_b(const patch_grid& m, const fields<T>& f) {
  for (int d = 0; d < 3; ++d)
    for (layer& side_layer : layers_[std::size_t(d)])
      for (std::size_t c = 0; c < 2; ++c)
        for_each_derivative(m, d, planes(difference_region(m), d, side_layer.low, side_layer.high), false,
                            f.e[(d + 2 - int(c)) % 3], [&](std::size_t n, std::size_t, int plane, T derivative) {
                              const auto k = std::size_t(plane - side_layer.low);
                              side_layer.psi_b[c][n] =
                                  side_layer.at_b.b[k] * side_layer.psi_b[c][n] + side_layer.at_b.c[k] * derivative;
                            });
}

template <class T>
void absorbing_layers<T>::correct_b(const patch_grid& m, fields<T>& f) const {
  for (int d = 0; d < 3; ++d)
    for (const layer& side_layer : layers_[std::size_t(d)])
      for (std::size_t c = 0; c < 2; ++c) {
        const int a = (d + 1 + int(c)) % 3, b = (d + 2 - int(c)) % 3;
        const T by = T((c ? -0.5 : 0.5) * m.dt);
        for_each_derivative(
            m, d, planes(difference_region(m), d, side_layer.low, side_layer.high), false, f.e[b],
            [&](std::size_t n, std::size_t i, int plane, T derivative) {
              f.b[a][i] += by * (side_layer.psi_b[c][n] +
                                 side_layer.at_b.inverse_kappa[std::size_t(plane - side_layer.low)] * derivative);
            });
      }
}

template <class T>
template <class Use>
void absorbing_layers<T>::for_each_row_across(const patch_grid& m, Use use) {
  for (int d = 1; d < m.dimensions; ++d)
    for (layer& side_layer : layers_[std::size_t(d)])
      for (const auto& [all, where] :
           {std::pair(&side_layer.psi_e, own_cells(m)), std::pair(&side_layer.psi_b, difference_region(m))}) {
        const region r = planes(where, d, side_layer.low, side_layer.high);
        const std::size_t row = std::size_t(r.high[0] - r.low[0]),
                          next = std::size_t(r.high[0] - m.cells[0] - r.low[0]);
        for (auto& psi : *all)
          for (std::size_t at = 0; at < psi.size(); at += row) use(psi, at, at + row, at + next);
      }
}

template <class T>
void absorbing_layers<T>::take_after_shift(const patch_grid& m, const std::vector<T>& values) {
  auto value = values.begin();
  for_each_row_across(m, [&](auto& psi, std::size_t, std::size_t end, std::size_t) { psi[end - 1] = *value++; });
}

template <class T>
std::vector<T> absorbing_layers<T>::shift_window(const patch_grid& m) {
  std::vector<T> out;
  for_each_row_across(m, [&](auto& psi, std::size_t begin, std::size_t end, std::size_t next) {
    out.push_back(psi[next]);
    std::copy(psi.begin() + std::ptrdiff_t(begin) + 1, psi.begin() + std::ptrdiff_t(end),
              psi.begin() + std::ptrdiff_t(begin));
    psi[end - 1] = T(0);
  });
  for (layer& side_layer : layers_[0])
    for (const auto& [all, where] :
         {std::pair(&side_layer.psi_e, own_cells(m)), std::pair(&side_layer.psi_b, difference_region(m))}) {
      const region r = planes(where, 0, side_layer.low, side_layer.high);
      const std::ptrdiff_t row = r.high[0] - r.low[0];
      for (auto& psi : *all)
        for (auto at = psi.begin(); at != psi.end(); at += row) {
          std::copy(at + 1, at + row, at);
          *(at + row - 1) = T(0);
        }
    }
  return out;
}

template class absorbing_layers<float>;
template class absorbing_layers<double>;

}  // namespace plaq::pic
