#include "plaq/pic/processes/counts.hpp"

#include <algorithm>
#include <cmath>

namespace plaq::pic {

namespace {

template <class T>
double squared_momentum(const particles<T>& all, std::size_t i) {
  double sum = 0;
  for (const auto& u : all.u) sum += double(u[i]) * double(u[i]);
  return sum;
}
template <class T>
double energy_of(const particles<T>& all, std::size_t i, double mass) {
  const double u2 = squared_momentum(all, i);
  return mass * u2 / (std::sqrt(1 + u2) + 1);
}

/// Returns the part of particle i in a moment.
template <class T>
double part_in(const particles<T>& all, std::size_t i, moment of, double mass) {
  const double w = double(all.w[i]);
  if (of == moment::number) return w;
  if (of == moment::energy) return w * energy_of(all, i, mass);
  const auto c = std::size_t(of) - std::size_t(moment::flux_x);
  return w * (double(all.u[c][i]) / std::sqrt(1 + squared_momentum(all, i)));
}

template <class T>
double value_of(const patch<T>& self, const particles<T>& all, std::size_t i, coordinate of, double mass,
                double offset) {
  if (of == coordinate::energy) return energy_of(all, i, mass);
  if (of >= coordinate::ux) return double(all.u[std::size_t(of) - std::size_t(coordinate::ux)][i]);
  const auto d = std::size_t(of);
  return (self.mesh.first[d] + all.cell[d][i] + double(all.x[d][i])) * self.mesh.spacing[d] - (d == 0 ? offset : 0);
}

}  // namespace

template <class T>
std::pair<std::size_t, double> bound_of_moment(const plan& p, const patch<T>& self, std::size_t s, moment of) {
  const auto& all = self.species[s];
  double largest = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    largest = std::max(largest, std::abs(part_in(all, i, of, p.species_list[s].mass)));
  return {all.size(), largest};
}

template <class T>
std::vector<double> count_at_nodes(const plan& p, const patch<T>& self, std::size_t s, moment of, int unit) {
  const patch_grid& m = self.mesh;
  const auto& all = self.species[s];
  std::array<std::size_t, 3> stride{1, 1, 1};
  std::size_t size = 1;
  for (int d = 0; d < m.dimensions; ++d) stride[std::size_t(d)] = size, size *= std::size_t(m.cells[d] + 1);
  std::vector<double> out(size);
  const double scale = std::ldexp(1.0, -unit), mass = p.species_list[s].mass;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double part = scale * part_in(all, i, of, mass);
    for (int corner = 0; corner < 1 << m.dimensions; ++corner) {
      double share = part;
      std::size_t node = 0;
      for (int d = 0; d < m.dimensions; ++d) {
        const int up = corner >> d & 1;
        const double x = double(all.x[d][i]);
        share *= up ? x : 1 - x, node += stride[std::size_t(d)] * std::size_t(all.cell[d][i] + up);
      }
      out[node] += std::nearbyint(share);
    }
  }
  return out;
}

std::ptrdiff_t histogram_axis::bin_of(double value) const {
  const auto last = std::ptrdiff_t(edges.size()) - 2;
  if (!(value >= edges.front() && value < edges.back())) return -1;
  const double place = (value - edges.front()) / (edges.back() - edges.front()) * double(last + 1);
  auto k = std::clamp(std::ptrdiff_t(place), std::ptrdiff_t(0), last);
  while (value < edges[std::size_t(k)]) --k;
  while (value >= edges[std::size_t(k + 1)]) ++k;
  return k;
}

template <class T>
std::vector<double> count_in_bins(const plan& p, const patch<T>& self, std::size_t s,
                                  const std::vector<histogram_axis>& axes, double offset, int unit) {
  std::size_t size = 1;
  for (const auto& axis : axes) size *= axis.edges.size() - 1;
  std::vector<double> out(size);
  const auto& all = self.species[s];
  const double scale = std::ldexp(1.0, -unit), mass = p.species_list[s].mass;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::ptrdiff_t at = 0;
    for (const auto& axis : axes) {
      const auto bin = axis.bin_of(value_of(self, all, i, axis.of, mass, offset));
      if (bin < 0) {
        at = -1;
        break;
      }
      at = at * (std::ptrdiff_t(axis.edges.size()) - 1) + bin;
    }
    if (at >= 0) out[std::size_t(at)] += std::nearbyint(scale * double(all.w[i]));
  }
  return out;
}

#define PLAQ_PIC_FOR(T)                                                                                       \
  template std::pair<std::size_t, double> bound_of_moment(const plan&, const patch<T>&, std::size_t, moment); \
  template std::vector<double> count_at_nodes(const plan&, const patch<T>&, std::size_t, moment, int);        \
  template std::vector<double> count_in_bins(const plan&, const patch<T>&, std::size_t,                       \
                                             const std::vector<histogram_axis>&, double, int);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic
