// The current of a way that ends on a conductor is that of a charge which is cancelled by its image there: so
// Gauss's law stays as it was, and what leaves takes no field with it.
#include "plaq/pic/travel.hpp"

#include <cmath>

#include "plaq/pic/streams.hpp"

namespace plaq::pic {

namespace {

/// The next face of its cell on a particle's way: a fraction of the way, at least 1 where it ends before.
struct face {
  double after = 1;
  int d = 0, side = 0;
};
face next_face(int dimensions, const std::array<double, 3>& x, const std::array<double, 3>& by) {
  face out;
  for (int d = 0; d < dimensions; ++d) {
    if (by[d] == 0) continue;
    const int side = by[d] > 0;
    const double after = std::fmax((side - x[d]) / by[d], 0);
    if (after < out.after) out = {after, d, side};
  }
  return out;
}

/// A momentum of the flux that a wall of temperature sqrt(spread) gives off into the box: along the normal with
/// density ~ u exp(-u^2 / 2 spread^2), normal along the wall. (Not relativistic.)
std::array<double, 3> off_the_wall(const plan& p, double spread, std::uint32_t s, int patch, std::int64_t step,
                                   std::uint64_t number, std::uint64_t meeting, int d, int side) {
  const auto stream = stream_of(p.seed, draws::thermal_wall, s, std::uint64_t(patch), std::uint64_t(step));
  const auto word = random_words(stream, number << 32 | meeting);
  const auto along = normal_pair(word[0], word[1]);
  std::array<double, 3> u;
  u[d] = (side ? -1 : 1) * spread * std::sqrt(-2 * std::log(above_zero(word[2])));
  u[(d + 1) % 3] = spread * along[0], u[(d + 2) % 3] = spread * along[1];
  return u;
}

}  // namespace

template <class T>
way_end travel(const plan& p, patch<T>& me, std::size_t s, std::size_t i, std::uint64_t number, double& part) {
  const block& m = me.mesh;
  particles<T>& all = me.kinds[s];
  double* row = me.now.data() + record::at(s, 0);
  point cell{};
  std::array<double, 3> x{}, u, by;
  for (int d = 0; d < m.dimensions; ++d) cell[d] = all.cell[d][i], x[d] = double(all.x[d][i]);
  for (int c = 0; c < 3; ++c) u[c] = double(all.u[c][i]);
  const auto set_out = [&] {
    const double g = std::sqrt(1 + u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int c = 0; c < 3; ++c) by[c] = u[c] / g * part * m.dt / (c < m.dimensions ? m.spacing[c] : 1);
  };
  const auto go = [&](double some) {  // and leave a current behind
    way<T> along{cell, {}, {}};
    for (int c = 0; c < 3; ++c) along.from[c] = T(x[c]), along.by[c] = T(by[c] * some);
    if (some > 0) deposit(m, p.order, me.f, along, p.kinds[s].charge * double(all.w[i]));
    for (int d = 0; d < m.dimensions; ++d) x[d] += by[d] * some;
    for (int c = 0; c < 3; ++c) by[c] *= 1 - some;
    part *= 1 - some;
  };
  const auto stop = [&](way_end end) {
    for (int c = 0; c < 3; ++c) all.u[c][i] = T(u[c]);
    for (int d = 0; d < m.dimensions; ++d) all.cell[d][i] = cell[d], all.x[d][i] = T(x[d]);
    return end;
  };
  std::uint64_t given_off = 0;  // by thermal walls
  set_out();
  for (int meetings = 0; meetings < 100;) {  // what rattles in a corner for so long stays there for this step
    const auto [after, d, side] = next_face(m.dimensions, x, by);
    go(after);
    if (after == 1) return stop(way_end::here);
    x[d] = side;
    if (const int last = side ? m.cells[d] - 1 : 0; !me.walls[d][side] || cell[d] != last) {
      cell[d] += side ? 1 : -1, x[d] = 1 - side, meetings = 0;
      if (!me.solids.cells.empty() && me.solids.cells[std::size_t(m.index(cell))]) {
        row[record::absorbed] += 1, row[record::absorbed_weight] += double(all.w[i]);
        row[record::weight] -= double(all.w[i]);
        return way_end::gone;
      }
      if (p.electrostatic && (cell[d] < 0 || cell[d] >= m.cells[d])) return stop(way_end::passes);
      continue;
    }
    ++meetings;
    switch (p.walls[d][side]) {
      case wall::reflected: u[d] = -u[d]; break;
      case wall::thermal:
        u = off_the_wall(p, std::sqrt(p.wall_temperature / p.kinds[s].mass), std::uint32_t(s), me.number, me.step,
                         number, given_off++, d, side);
        break;
      default:
        row[record::left + 2 * std::size_t(d) + std::size_t(side)] += 1;
        row[record::left_weight + 2 * std::size_t(d) + std::size_t(side)] += double(all.w[i]);
        return way_end::gone;
    }
    set_out();
  }
  return stop(way_end::here);
}

template way_end travel(const plan&, patch<float>&, std::size_t, std::size_t, std::uint64_t, double&);
template way_end travel(const plan&, patch<double>&, std::size_t, std::size_t, std::uint64_t, double&);

}  // namespace plaq::pic
