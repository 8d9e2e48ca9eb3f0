#include "plaq/lqcd/staples.hpp"

#include <algorithm>

namespace plaq::lqcd {

void three_sides::add_above(int parity, matrices& out, const_matrix_view left, const_matrix_view middle,
                            const_matrix_view right, int mu, int nu) {
  shift(by_, parity, view(a_), middle, nu, 1);
  shift(by_, parity, view(b_), right, mu, 1);
  product(by_, parity, view(c_), {view(a_)}, adjoint(view(b_)));
  product(by_, parity, view(out), {left}, {view(c_)}, true);
}

void three_sides::add_below(int parity, matrices& out, const_matrix_view left, const_matrix_view middle,
                            const_matrix_view right, int mu, int nu) {
  shift(by_, 1 - parity, view(b_), right, mu, 1);
  product(by_, 1 - parity, view(a_), {middle}, {view(b_)});
  product(by_, 1 - parity, view(c_), adjoint(left), {view(a_)});
  shift(by_, parity, view(a_), view(c_), nu, -1);
  add(by_, parity, view(out), view(a_));
}

namespace {

void clear(matrices& m, int parity) { std::fill_n(m.of(parity), m.size() / 2, 0.0); }

}  // namespace

void staples(engine& by, matrices& out, const links<double>& u, int parity, int mu, int lowest) {
  clear(out, parity);
  three_sides way(by, u.shared_layout());
  for (int nu = lowest; nu < 4; ++nu) {
    if (nu == mu) continue;
    way.add_above(parity, out, view(u, nu), view(u, mu), view(u, nu), mu, nu);
    way.add_below(parity, out, view(u, nu), view(u, mu), view(u, nu), mu, nu);
  }
}

void rectangle_staples(engine& by, matrices& out, const links<double>& u, int parity, int mu) {
  clear(out, parity);
  three_sides way(by, u.shared_layout());
  const auto U = [&](int direction) { return view(u, direction); };
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    // Staples of plaquettes one of whose links is the staple of another plaquette: of the link across, of that on the
    // right with its staple ahead, of that on the left with its staple behind.
    matrices above(u.shared_layout()), below(u.shared_layout()), ahead(u.shared_layout()), behind(u.shared_layout());
    way.add_above(1 - parity, above, U(nu), U(mu), U(nu), mu, nu);
    way.add_below(1 - parity, below, U(nu), U(mu), U(nu), mu, nu);
    for (const int p : {0, 1}) {
      way.add_above(p, ahead, U(mu), U(nu), U(mu), nu, mu);
      way.add_below(p, behind, U(mu), U(nu), U(mu), nu, mu);
    }
    way.add_above(parity, out, U(nu), view(above), U(nu), mu, nu);
    way.add_below(parity, out, U(nu), view(below), U(nu), mu, nu);
    way.add_above(parity, out, U(nu), U(mu), view(ahead), mu, nu);
    way.add_below(parity, out, U(nu), U(mu), view(ahead), mu, nu);
    way.add_above(parity, out, view(behind), U(mu), U(nu), mu, nu);
    way.add_below(parity, out, view(behind), U(mu), U(nu), mu, nu);
  }
}

}  // namespace plaq::lqcd
