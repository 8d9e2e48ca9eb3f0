#include "plaq/pic/emission.hpp"

#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/pic/patch.hpp"
#include "plaq/pic/streams.hpp"

namespace plaq::pic {

namespace {

using vector = std::array<double, 3>;

vector cross(const vector& a, const vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// The two dimensions along a side; beyond those that are used, cells are 0.
std::array<int, 2> along(int d) { return {(d + 1) % 3, (d + 2) % 3}; }

std::vector<tile> faces_of(const plan& p, const block& m, int number) {
  const emitter& e = p.emitters[std::size_t(number)];
  const auto [d, side] = side_of(p, e);
  const bool is_there = side ? m.first[d] + m.cells[d] == p.cells[d] : m.first[d] == 0;
  std::vector<tile> out;
  if (!is_there) return out;
  const auto [a, b] = along(d);
  for (int j = 0; j < m.cells[b]; ++j)
    for (int i = 0; i < m.cells[a]; ++i) {
      bool inside = true;
      for (const auto& [axis, cell] : {std::pair(a, i), std::pair(b, j)})
        if (axis < p.dimensions)
          inside = inside && std::abs((m.first[axis] + cell + 0.5) * m.spacing[axis] - e.at[axis]) <= e.half_width;
      if (!inside) continue;
      const auto in_plane = std::uint32_t((m.first[a] + i) + p.cells[a] * (m.first[b] + j));
      out.push_back({.of = number, .number = in_plane, .at = {i, j}, .area = m.volume() / m.spacing[d]});
    }
  return out;
}

/// A place on a plate, u and v in [0, 1] of the tile.
vector place_on(const plan& p, const emitter& e, const tile& t, double u, double v) {
  const frame f = frame_of(p, e);
  vector out = e.at;
  const double a = p.dimensions > 1 ? e.half_width * (2 * (t.at[0] + u) / t.count[0] - 1) : 0;
  const double b = p.dimensions > 2 ? e.half_width * (2 * (t.at[1] + v) / t.count[1] - 1) : 0;
  for (std::size_t d = 0; d < 3; ++d) out[d] += a * f.first[d] + b * f.second[d];
  return out;
}

std::vector<tile> parts_of(const plan& p, const block& m, int number) {
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
      const tile one{number, std::uint32_t(a + count[0] * b), {a, b}, count, area};
      const vector centre = place_on(p, e, one, 0.5, 0.5);
      bool near = true;
      for (int d = 0; d < p.dimensions; ++d) {
        const double cell = m.spacing[d], slack = reach + 1e-6 * cell;
        near = near && centre[d] >= m.first[d] * cell - slack && centre[d] <= (m.first[d] + m.cells[d]) * cell + slack;
      }
      if (near) out.push_back(one);
    }
  return out;
}

/// The charge before a side, in the half cell that belongs to it, by face.
template <class T>
std::vector<double> charge_before(const plan& p, const patch<T>& me, const side_of_box& of) {
  const block& m = me.mesh;
  const auto [a, b] = along(of.d);
  std::vector<double> out(std::size_t(m.cells[a] * m.cells[b]));
  const int last = of.side ? m.cells[of.d] - 1 : 0;
  for (std::size_t s = 0; s < p.kinds.size(); ++s) {
    const auto& all = me.kinds[s];
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all.cell[of.d][i] != last) continue;
      const double x = double(all.x[of.d][i]);
      const int u = a < p.dimensions ? all.cell[a][i] : 0, v = b < p.dimensions ? all.cell[b][i] : 0;
      out[std::size_t(u + m.cells[a] * v)] += p.kinds[s].charge * double(all.w[i]) * (of.side ? x : 1 - x);
    }
  }
  return out;
}

/// How many it takes to leave no charge on the conductor behind a face. E at its first half cell, as the mean of
/// the nodes around the face, is that on the conductor and the charge before it.
template <class T>
double lacking(const plan& p, const patch<T>& me, const emitter& e, const tile& t, double before) {
  const block& m = me.mesh;
  const auto [d, side] = side_of(p, e);
  const auto [a, b] = along(d);
  const int na = a < p.dimensions ? 2 : 1, nb = b < p.dimensions ? 2 : 1;
  double field = 0;
  for (int j = 0; j < nb; ++j)
    for (int i = 0; i < na; ++i) {
      point node{};
      node[d] = side ? m.cells[d] - 1 : 0;
      node[a] = t.at[0] + i, node[b] = t.at[1] + j;
      field += double(me.f.e[d][std::size_t(m.index(node))]) / (na * nb);
    }
  return ((side ? -field : field) * t.area - before) / (p.kinds[std::size_t(e.kind)].charge * e.weight);
}

/// Whole particles of a face in this step; `before`: charge_before.
template <class T>
std::int64_t limited(const plan& p, const patch<T>& me, const emitter& e, const tile& t,
                     const std::vector<double>& before, const stream_id& stream) {
  const int row = me.mesh.cells[along(side_of(p, e).d)[0]];
  const double n = lacking(p, me, e, t, before[std::size_t(t.at[0] + row * t.at[1])]);
  check(n < 1e8,
        "a plate that is limited by space charge would give off more than 1e8 particles at once: its weight is "
        "too small");
  return std::int64_t(std::floor(std::fmax(n, 0) + unit_interval(random_words(stream, 0)[0])));
}
/// Whole particles of a tile in a step.
std::int64_t given(const plan& p, const emitter& e, const tile& t, std::int64_t step) {
  const double of_one = t.area * p.dt / e.weight;
  // Tiles do not give off all at once.
  const auto always = stream_of(p.seed, draws::emission, std::uint32_t(t.of), t.number, ~std::uint64_t(0));
  const double offset = unit_interval(random_words(always, 0)[0]);
  return std::int64_t(std::floor(e.given_until(step + 1) * of_one + offset)) -
         std::int64_t(std::floor(e.given_until(step) * of_one + offset));
}

}  // namespace

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

std::vector<tile> tiles_of(const plan& p, const block& m) {
  std::vector<tile> out;
  for (int n = 0; n < int(p.emitters.size()); ++n) {
    const auto more = p.emitters[std::size_t(n)].space_charge_limited ? faces_of(p, m, n) : parts_of(p, m, n);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

template <class T>
under_way<T> emit(const plan& p, patch<T>& me, std::size_t s) {
  const block& m = me.mesh;
  under_way<T> out;
  std::vector<double> before;
  int looked_at = -1;
  for (const tile& t : me.tiles) {
    const emitter& e = p.emitters[std::size_t(t.of)];
    if (std::size_t(e.kind) != s) continue;
    const auto stream = stream_of(p.seed, draws::emission, std::uint32_t(t.of), t.number, std::uint64_t(me.step));
    if (e.space_charge_limited && t.of != looked_at) before = charge_before(p, me, side_of(p, e)), looked_at = t.of;
    const std::int64_t n = e.space_charge_limited ? limited(p, me, e, t, before, stream) : given(p, e, t, me.step);
    const frame f = frame_of(p, e);
    const double spread = std::sqrt(e.temperature / p.kinds[s].mass);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto word = random_words(stream, 2 * std::uint64_t(i) + 1),
                 more = random_words(stream, 2 * std::uint64_t(i) + 2);
      vector x = place_on(p, e, t, unit_interval(word[0]), unit_interval(word[1]));
      if (e.space_charge_limited) {
        const auto d = side_of(p, e).d;
        for (std::size_t k = 0; k < 2; ++k)
          x[std::size_t(along(d)[k])] =
              (m.first[along(d)[k]] + t.at[k] + unit_interval(word[k])) * m.spacing[along(d)[k]];
      }
      const auto sideways = normal_pair(more[0], more[1]);
      const double away = e.drift + spread * std::sqrt(-2 * std::log(above_zero(word[3])));
      point cell{};
      vector in_cell{};
      bool here = true;
      for (int d = 0; d < p.dimensions; ++d) {
        const double at = x[std::size_t(d)] / m.spacing[d];
        const int in_box = std::clamp(int(std::floor(at)), 0, p.cells[d] - 1);
        cell[d] = in_box - m.first[d];
        in_cell[std::size_t(d)] = std::clamp(at - in_box, 0.0, 1.0);
        here = here && cell[d] >= 0 && cell[d] < m.cells[d];
      }
      if (!here) continue;
      for (std::size_t d = 0; d < std::size_t(p.dimensions); ++d)
        out.who.cell[d].push_back(cell[d]), out.who.x[d].push_back(T(in_cell[d]));
      for (std::size_t c = 0; c < 3; ++c)
        out.who.u[c].push_back(T(away * f.normal[c] + spread * (sideways[0] * f.first[c] + sideways[1] * f.second[c])));
      out.who.w.push_back(T(e.weight));
      if (p.kinds[s].tracked) out.who.id.push_back(me.new_id(p));
      out.part.push_back(above_zero(word[2]));
      me.now[record::at(s, record::emitted)] += 1;
      me.now[record::at(s, record::emitted_weight)] += double(out.who.w.back());
    }
  }
  if (!out.who.empty()) {
    fields<T> left;
    left.rho = std::move(me.plates);
    deposit_charge(m, p.order, left, out.who, -p.kinds[s].charge);
    me.plates = std::move(left.rho);
  }
  return out;
}

template under_way<float> emit(const plan&, patch<float>&, std::size_t);
template under_way<double> emit(const plan&, patch<double>&, std::size_t);

}  // namespace plaq::pic
