// The current of a way that ends on a conductor is that of a charge which is cancelled by its image there: so
// Gauss's law stays as it was, and what leaves takes no field with it.
#include "plaq/pic/travel.hpp"

#include <cmath>

#include "plaq/pic/streams.hpp"

namespace plaq::pic {

namespace {

/// The first wall on the way to `to`, both in cells of the patch: a fraction of the way, above 1 where there is none.
struct meeting {
  double after = 2;
  int d = 0, side = 0;
};
meeting first_wall(const block& m, const sides& walls, const std::array<double, 3>& at,
                   const std::array<double, 3>& by) {
  meeting out;
  for (int d = 0; d < m.dimensions; ++d)
    for (int side = 0; side < 2; ++side) {
      const double wall = side ? m.cells[d] : 0;
      if (!walls[d][side] || by[d] == 0 || (by[d] > 0) != (side == 1)) continue;
      const double after = (wall - at[d]) / by[d];
      if (after < 1 && after < out.after) out = {std::fmax(after, 0), d, side};
    }
  return out;
}

/// A momentum of the flux that a wall of temperature sqrt(spread) gives off into the box: along the normal with
/// density ~ u exp(-u^2 / 2 spread^2), normal along the wall. (Not relativistic.)
std::array<double, 3> off_the_wall(const plan& p, double spread, std::uint32_t s, int patch, std::int64_t step,
                                   std::uint64_t number, int d, int side) {
  const auto word =
      random_words(stream_of(p.seed, draws::thermal_wall, s, std::uint64_t(patch), std::uint64_t(step)), number);
  const auto along = normal_pair(word[0], word[1]);
  std::array<double, 3> u;
  u[d] = (side ? -1 : 1) * spread * std::sqrt(-2 * std::log(above_zero(word[2])));
  u[(d + 1) % 3] = spread * along[0], u[(d + 2) % 3] = spread * along[1];
  return u;
}

}  // namespace

template <class T>
bool travel(const plan& p, patch<T>& me, std::size_t s, std::size_t i, std::uint64_t number, double part) {
  const block& m = me.mesh;
  particles<T>& all = me.kinds[s];
  std::array<double, 3> at{}, u, by;
  for (int d = 0; d < m.dimensions; ++d) at[d] = double(all.cell[d][i]) + double(all.x[d][i]);
  for (int c = 0; c < 3; ++c) u[c] = double(all.u[c][i]);
  double left = part;  // of the step
  std::size_t side = 0;
  const auto set_out = [&] {
    const double g = std::sqrt(1 + u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int c = 0; c < 3; ++c) by[c] = u[c] / g * left * m.dt / (c < m.dimensions ? m.spacing[c] : 1);
  };
  const auto go = [&](double some) {  // and leave a current behind
    way<T> along{{}, {}, {}};
    for (int c = 0; c < 3; ++c) along.by[c] = T(by[c] * some);
    for (int d = 0; d < m.dimensions; ++d) {
      along.cell[d] = std::min(int(std::floor(at[d])), m.cells[d] - 1);
      if (!me.walls[d][1]) along.cell[d] = int(std::floor(at[d]));
      along.from[d] = T(at[d] - along.cell[d]);
      at[d] += by[d] * some;
    }
    deposit(m, p.order, me.f, along, p.kinds[s].charge * double(all.w[i]));
  };
  set_out();
  for (int meetings = 0;; ++meetings) {
    const meeting next = first_wall(m, me.walls, at, by);
    if (next.after > 1 || meetings == 100) break;  // what rattles in a corner for so long stays there for this step
    go(next.after);
    at[next.d] = next.side ? m.cells[next.d] : 0;
    left *= 1 - next.after;
    switch (p.walls[next.d][next.side]) {
      case wall::reflected: u[next.d] = -u[next.d]; break;
      case wall::thermal:
        u = off_the_wall(p, std::sqrt(p.wall_temperature / p.kinds[s].mass), std::uint32_t(s), me.number, me.step,
                         number * 128 + std::uint64_t(meetings), next.d, next.side);
        break;
      default:
        side = 2 * std::size_t(next.d) + std::size_t(next.side);
        me.now[record::at(s, record::left) + side] += 1;
        me.now[record::at(s, record::left_weight) + side] += double(all.w[i]);
        return false;
    }
    set_out();
  }
  if (first_wall(m, me.walls, at, by).after > 1) go(1);
  for (int c = 0; c < 3; ++c) all.u[c][i] = T(u[c]);
  for (int d = 0; d < m.dimensions; ++d) {
    int cell = int(std::floor(at[d]));
    if (me.walls[d][1]) cell = std::min(cell, m.cells[d] - 1);
    if (me.walls[d][0]) cell = std::max(cell, 0);
    all.cell[d][i] = cell;
    all.x[d][i] = T(at[d] - cell);
  }
  return true;
}

template bool travel(const plan&, patch<float>&, std::size_t, std::size_t, std::uint64_t, double);
template bool travel(const plan&, patch<double>&, std::size_t, std::size_t, std::uint64_t, double);

}  // namespace plaq::pic
