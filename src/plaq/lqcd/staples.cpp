#include "plaq/lqcd/staples.hpp"

#include <algorithm>

namespace plaq::lqcd {

void add_above(engine& by, int parity, matrices& out, const_matrix_view left, const_matrix_view middle,
               const_matrix_view right, int mu, int nu) {
  matrices a(out.shared_layout()), b(a), c(a);
  shift(by, parity, view(a), middle, nu, 1);
  shift(by, parity, view(b), right, mu, 1);
  product(by, parity, view(c), {view(a)}, adjoint(view(b)));
  product(by, parity, view(out), {left}, {view(c)}, true);
}

void add_below(engine& by, int parity, matrices& out, const_matrix_view left, const_matrix_view middle,
               const_matrix_view right, int mu, int nu) {
  matrices a(out.shared_layout()), b(a), c(a);
  shift(by, 1 - parity, view(b), right, mu, 1);
  product(by, 1 - parity, view(a), {middle}, {view(b)});
  product(by, 1 - parity, view(c), adjoint(left), {view(a)});
  shift(by, parity, view(a), view(c), nu, -1);
  add(by, parity, view(out), view(a));
}

namespace {

void clear(matrices& m, int parity) { std::fill_n(m.of(parity), m.size() / 2, 0.0); }

}  // namespace

void staples(engine& by, matrices& out, const links<double>& u, int parity, int mu) {
  clear(out, parity);
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    add_above(by, parity, out, view(u, nu), view(u, mu), view(u, nu), mu, nu);
    add_below(by, parity, out, view(u, nu), view(u, mu), view(u, nu), mu, nu);
  }
}

void rectangle_staples(engine& by, matrices& out, const links<double>& u, int parity, int mu) {
  clear(out, parity);
  const auto U = [&](int direction) { return view(u, direction); };
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    // Staples of plaquettes one of whose links is the staple of another plaquette: of the link across, of that on the
    // right with its staple ahead, of that on the left with its staple behind.
    matrices above(u.shared_layout()), below(above), ahead(above), behind(above);
    add_above(by, 1 - parity, above, U(nu), U(mu), U(nu), mu, nu);
    add_below(by, 1 - parity, below, U(nu), U(mu), U(nu), mu, nu);
    for (const int p : {0, 1}) {
      add_above(by, p, ahead, U(mu), U(nu), U(mu), nu, mu);
      add_below(by, p, behind, U(mu), U(nu), U(mu), nu, mu);
    }
    add_above(by, parity, out, U(nu), view(above), U(nu), mu, nu);
    add_below(by, parity, out, U(nu), view(below), U(nu), mu, nu);
    add_above(by, parity, out, U(nu), U(mu), view(ahead), mu, nu);
    add_below(by, parity, out, U(nu), U(mu), view(ahead), mu, nu);
    add_above(by, parity, out, view(behind), U(mu), U(nu), mu, nu);
    add_below(by, parity, out, view(behind), U(mu), U(nu), mu, nu);
  }
}

}  // namespace plaq::lqcd
