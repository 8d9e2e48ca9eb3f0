#include "plaq/pic/processes/felt_fields.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq::pic {

bool external_plan::has(int c) const { return !formulas[std::size_t(c)].empty() || !maps[std::size_t(c)].empty(); }
bool external_plan::empty() const {
  for (int c = 0; c < 6; ++c)
    if (has(c)) return false;
  return true;
}
bool external_plan::varies(int c) const {
  return formulas[std::size_t(c)].depends_on_time() || (!maps[std::size_t(c)].empty() && factor.depends_on_time());
}

double field_map::at(const std::array<double, 3>& x, int dimensions) const {
  std::array<int, 3> low{};
  std::array<double, 3> part{};
  for (std::size_t d = 0; d < std::size_t(dimensions); ++d) {
    const double place = (x[d] - first[d]) / spacing[d], last = points[d] - 1;
    if (!(place >= -1 && place <= last + 1)) return 0;
    const double inside = std::clamp(place, 0.0, last);
    low[d] = std::clamp(int(inside), 0, std::max(0, points[d] - 2));
    part[d] = inside - low[d];
  }
  double sum = 0;
  for (int corner = 0; corner < 1 << dimensions; ++corner) {
    double weight = 1;
    std::size_t index = 0, stride = 1;
    for (std::size_t d = 0; d < std::size_t(dimensions); ++d) {
      const int up = corner >> d & 1;
      weight *= up ? part[d] : 1 - part[d];
      index += stride * std::size_t(std::min(low[d] + up, points[d] - 1));
      stride *= std::size_t(points[d]);
    }
    if (weight != 0) sum += weight * values[index];
  }
  return sum;
}

namespace {

template <class T>
std::vector<T>& component_of(fields<T>& f, int c) {
  return c < 3 ? f.e[std::size_t(c)] : f.b[std::size_t(c - 3)];
}

/// Whether component c lies half a cell behind the node in dimension d of Yee's mesh.
bool half_in(int c, int d) { return c < 3 ? c == d : c - 3 != d; }

/// Computes the means at the nodes of a component in place, from the highest cell on down.
template <class T>
void centre(const patch_grid& m, int c, std::vector<T>& field) {
  for (int d = 0; d < m.dimensions; ++d) {
    if (!half_in(c, d)) continue;
    const auto s = m.stride[d];
    for (auto i = std::ptrdiff_t(m.size()); --i >= s;)
      field[std::size_t(i)] = T(0.5) * (field[std::size_t(i)] + field[std::size_t(i - s)]);
  }
}

/// Evaluates a component of the external fields in all cells.
template <class T>
void evaluate(const plan& p, const patch_grid& m, int c, double t, std::vector<T>& out) {
  const external_plan& all = p.external;
  const auto number = std::size_t(c);
  const auto place = [&](int d, int i) {
    return (m.first[d] + i + (!p.at_nodes && half_in(c, d) ? 0.5 : 0)) * m.spacing[d];
  };
  out.resize(m.size());
  const region r = with_guards(m);
  const auto length = std::size_t(r.high[0] - r.low[0]);
  std::vector<double> x(length), value(length);
  double factor = 1;
  if (!all.factor.empty()) all.factor.evaluate({x.data(), 1}, 0, 0, t / all.time, {&factor, 1});
  for (int k = r.low[2]; k < r.high[2]; ++k)
    for (int j = r.low[1]; j < r.high[1]; ++j) {
      double y = m.dimensions > 1 ? place(1, j) : 0, sign = 1;
      const double z = m.dimensions > 2 ? place(2, k) : 0;
      if (m.cylinder && y < 0) y = -y, sign = c % 3 == 0 ? 1 : -1;  // behind the axis
      for (std::size_t i = 0; i < length; ++i) x[i] = place(0, r.low[0] + int(i)) / all.length;
      all.formulas[number].evaluate(x, y / all.length, z / all.length, t / all.time, value);
      const auto row = std::size_t(m.index({r.low[0], j, k}));
      for (std::size_t i = 0; i < length; ++i) {
        double sum = all.unit[number] * value[i];
        if (!all.maps[number].empty())
          sum += factor * all.maps[number].at({place(0, r.low[0] + int(i)), y, z}, m.dimensions);
        if (!std::isfinite(T(sum))) {
          const std::array<double, 3> point{x[i], y / all.length, z / all.length};
          std::string at;
          for (int d = 0; d < m.dimensions; ++d)
            at += std::string(p.axis_name(d)) + " = " + std::to_string(point[std::size_t(d)]) + ", ";
          throw runtime_failure(std::string("external.") + (c < 3 ? "e" : "b") + ": the " +
                                std::string(p.axis_name(c % 3)) + " component is not finite at " + at +
                                "t = " + std::to_string(t / all.time));
        }
        out[row + i] = T(sign * sum);
      }
    }
}

}  // namespace

template <class T>
felt_fields<T>::felt_fields(const plan& p, patch<T>& self, double t) : self_(self) {
  if (!p.at_nodes && p.external.empty()) return;
  const bool moved = self.external_first != self.mesh.first[0];
  for (int c = 0; c < 6; ++c) {
    if (!p.at_nodes && !p.external.has(c)) continue;
    auto& field = component_of(self.f, c);
    of_mesh_[std::size_t(c)] = field;
    if (p.at_nodes) centre(self.mesh, c, field);
    if (!p.external.has(c)) continue;
    auto& external = self.external[std::size_t(c)];
    if (external.empty() || moved || p.external.varies(c)) evaluate(p, self.mesh, c, t, external);
    for (std::size_t i = 0; i < field.size(); ++i) field[i] += external[i];
  }
  self.external_first = self.mesh.first[0];
}

template <class T>
felt_fields<T>::~felt_fields() {
  for (int c = 0; c < 6; ++c)
    if (!of_mesh_[std::size_t(c)].empty()) component_of(self_.f, c) = std::move(of_mesh_[std::size_t(c)]);
}

template class felt_fields<float>;
template class felt_fields<double>;

}  // namespace plaq::pic
