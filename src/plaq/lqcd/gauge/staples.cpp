#include "plaq/lqcd/gauge/staples.hpp"

#include <algorithm>

namespace plaq::lqcd {

void three_sides::add_above(int parity, matrices& out, const_matrix_view left, const_matrix_view middle,
                            const_matrix_view right, int mu, int nu) {
  shift(ctx_, parity, view(a_), middle, nu, 1);
  shift(ctx_, parity, view(b_), right, mu, 1);
  multiply(ctx_, parity, view(c_), {view(a_)}, adjoint(view(b_)));
  multiply(ctx_, parity, view(out), {left}, {view(c_)}, true);
}

void three_sides::add_below(int parity, matrices& out, const_matrix_view left, const_matrix_view middle,
                            const_matrix_view right, int mu, int nu) {
  shift(ctx_, 1 - parity, view(b_), right, mu, 1);
  multiply(ctx_, 1 - parity, view(a_), {middle}, {view(b_)});
  multiply(ctx_, 1 - parity, view(c_), adjoint(left), {view(a_)});
  shift(ctx_, parity, view(a_), view(c_), nu, -1);
  add(ctx_, parity, view(out), view(a_));
}

namespace {

void clear(matrices& m, int parity) { std::fill_n(m.of(parity), m.size() / 2, 0.0); }

}  // namespace

void staples(context& ctx, matrices& out, const links<double>& u, int parity, int mu, int lowest) {
  clear(out, parity);
  three_sides sides(ctx, u.shared_layout());
  for (int nu = lowest; nu < 4; ++nu) {
    if (nu == mu) continue;
    sides.add_above(parity, out, view(u, nu), view(u, mu), view(u, nu), mu, nu);
    sides.add_below(parity, out, view(u, nu), view(u, mu), view(u, nu), mu, nu);
  }
}

void rectangle_staples(context& ctx, matrices& out, const links<double>& u, int parity, int mu) {
  clear(out, parity);
  three_sides sides(ctx, u.shared_layout());
  const auto U = [&](int direction) { return view(u, direction); };
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    // Staples of plaquettes one of whose links is replaced by a staple: the link across, the right link by its staple
    // ahead, the left link by its staple behind.
    matrices above(u.shared_layout()), below(u.shared_layout()), ahead(u.shared_layout()), behind(u.shared_layout());
    sides.add_above(1 - parity, above, U(nu), U(mu), U(nu), mu, nu);
    sides.add_below(1 - parity, below, U(nu), U(mu), U(nu), mu, nu);
    for (const int p : {0, 1}) {
      sides.add_above(p, ahead, U(mu), U(nu), U(mu), nu, mu);
      sides.add_below(p, behind, U(mu), U(nu), U(mu), nu, mu);
    }
    sides.add_above(parity, out, U(nu), view(above), U(nu), mu, nu);
    sides.add_below(parity, out, U(nu), view(below), U(nu), mu, nu);
    sides.add_above(parity, out, U(nu), U(mu), view(ahead), mu, nu);
    sides.add_below(parity, out, U(nu), U(mu), view(ahead), mu, nu);
    sides.add_above(parity, out, view(behind), U(mu), U(nu), mu, nu);
    sides.add_below(parity, out, view(behind), U(mu), U(nu), mu, nu);
  }
}

void weighted_staples(context& ctx, matrices& out, const links<double>& u, int parity, int mu, double c1) {
  staples(ctx, out, u, parity, mu);
  if (c1 == 0) return;
  matrices rectangles(u.shared_layout());
  rectangle_staples(ctx, rectangles, u, parity, mu);
  const std::size_t group = out.size() / std::size_t(out.groups());
  ctx.workers.parallel_for("weigh", std::size_t(u.layout().half()), [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first * group; i < end * group; ++i)
      out.of(parity)[i] = (1 - 8 * c1) * out.of(parity)[i] + c1 * rectangles.of(parity)[i];
  });
}

}  // namespace plaq::lqcd
