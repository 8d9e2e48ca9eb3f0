#include "plaq/pic/mesh/plates.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace plaq::pic {

namespace {

using vector = std::array<double, 3>;

vector cross(const vector& a, const vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Faces of cells on a side of the box, for a plate limited by space charge.
std::vector<tile> side_tiles(const plan& p, const patch_grid& m, int number) {
  const emitter& e = p.emitters[std::size_t(number)];
  const auto [d, side] = side_of(p, e);
  const bool touches_side = side ? m.first[d] + m.cells[d] == p.cells[d] : m.first[d] == 0;
  std::vector<tile> out;
  if (!touches_side) return out;
  const auto [a, b] = dimensions_along(d);
  for (int j = 0; j < m.cells[b]; ++j)
    for (int i = 0; i < m.cells[a]; ++i) {
      bool inside = true;
      for (const auto& [axis, cell] : {std::pair(a, i), std::pair(b, j)})
        if (axis < p.dimensions)
          inside = inside && std::abs((m.first[axis] + cell + 0.5) * m.spacing[axis] - e.centre[axis]) <= e.half_width;
      if (!inside) continue;
      const auto in_plane = std::uint32_t((m.first[a] + i) + p.cells[a] * (m.first[b] + j));
      const double ring = 2 * std::numbers::pi * m.radius(d == 1 ? m.cells[1] : i + 0.5);
      const double area = m.volume() / m.spacing[d] * (p.cylinder ? ring : 1);
      out.push_back({.emitter = number, .number = in_plane, .at = {i, j}, .area = area});
    }
  return out;
}

/// Equal parts of a plate anywhere in the box.
std::vector<tile> plate_tiles(const plan& p, const patch_grid& m, int number) {
  const emitter& e = p.emitters[std::size_t(number)];
  std::array<int, 2> count{1, 1};
  double finest = p.spacing(0), area = 1;
  for (int d = 1; d < p.dimensions; ++d) finest = std::min(finest, p.spacing(d));
  for (int d = 1; d < p.dimensions; ++d) {
    count[std::size_t(d - 1)] = std::max(1, int(std::lround(2 * e.half_width / finest)));
    area *= 2 * e.half_width / count[std::size_t(d - 1)];
  }
  const double reach = p.dimensions > 1 ? e.half_width / count[0] * (p.dimensions - 1) : 0;  // of a tile, at least
  std::vector<tile> out;
  for (int b = 0; b < count[1]; ++b)
    for (int a = 0; a < count[0]; ++a) {
      tile t{number, std::uint32_t(a + count[0] * b), {a, b}, count, area};
      const vector centre = point_on_plate(p, e, t, 0.5, 0.5);
      if (p.cylinder) t.area *= 2 * std::numbers::pi * centre[1];
      bool near = true;
      for (int d = 0; d < p.dimensions; ++d) {
        const double cell = m.spacing[d], slack = reach + 1e-6 * cell;
        near = near && centre[d] >= m.first[d] * cell - slack && centre[d] <= (m.first[d] + m.cells[d]) * cell + slack;
      }
      if (near) out.push_back(t);
    }
  return out;
}

}  // namespace

vector point_on_plate(const plan& p, const emitter& e, const tile& t, double u, double v) {
  const frame f = frame_of(p, e);
  vector out = e.centre;
  const double a = p.dimensions > 1 ? e.half_width * (2 * (t.at[0] + u) / t.count[0] - 1) : 0;
  const double b = p.dimensions > 2 ? e.half_width * (2 * (t.at[1] + v) / t.count[1] - 1) : 0;
  for (std::size_t d = 0; d < 3; ++d) out[d] += a * f.first[d] + b * f.second[d];
  return out;
}

double along_ring(double from, double to, double u) {
  const double mean = from + to;
  return mean > 0 ? u * mean / (from + std::sqrt((1 - u) * from * from + u * to * to)) : u;
}

double profile_at(const plan& p, const emitter& e, const vector& x) {
  if (e.profile.empty()) return 1;
  const bool square = p.dimensions > 2;
  const auto n = square ? std::size_t(std::lround(std::sqrt(double(e.profile.size())))) : e.profile.size();
  const frame f = frame_of(p, e);
  std::array<std::size_t, 2> low{};
  std::array<double, 2> part{};
  for (std::size_t k = 0; k < (square ? 2 : 1); ++k) {
    double along = 0;
    for (std::size_t d = 0; d < 3; ++d) along += (x[d] - e.centre[d]) * (k ? f.second : f.first)[d];
    const double place = std::clamp(0.5 * (along / e.half_width + 1), 0.0, 1.0) * double(n - 1);
    low[k] = std::min(std::size_t(place), n - 2), part[k] = place - double(low[k]);
  }
  const auto row = [&](std::size_t j) {
    const double* values = e.profile.data() + j * n + low[0];
    return (1 - part[0]) * values[0] + part[0] * values[1];
  };
  return square ? (1 - part[1]) * row(low[1]) + part[1] * row(low[1] + 1) : row(0);
}

frame frame_of(const plan& p, const emitter& e) {
  frame f{.normal = e.normal, .first = {}, .second = {}};
  for (int d = p.dimensions; d < 3; ++d) f.normal[std::size_t(d)] = 0;
  vector axis{0, 0, 1};
  if (p.dimensions == 3) {
    axis = {};
    axis[std::size_t(std::min_element(f.normal.begin(), f.normal.end(),
                                      [](double a, double b) { return std::abs(a) < std::abs(b); }) -
                     f.normal.begin())] = 1;
  }
  f.first = cross(axis, f.normal);
  const double length = std::sqrt(f.first[0] * f.first[0] + f.first[1] * f.first[1] + f.first[2] * f.first[2]);
  for (double& x : f.first) x /= length;
  f.second = cross(f.normal, f.first);
  return f;
}

std::vector<tile> tiles_in(const plan& p, const patch_grid& m) {
  std::vector<tile> out;
  for (int n = 0; n < int(p.emitters.size()); ++n) {
    const auto more = p.emitters[std::size_t(n)].follows_field() ? side_tiles(p, m, n) : plate_tiles(p, m, n);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

}  // namespace plaq::pic
