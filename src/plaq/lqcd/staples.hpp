// What a link is multiplied with in small loops.
#pragma once
#include "plaq/lqcd/matrices.hpp"

namespace plaq::lqcd {

/// out(x) += left(x) middle(x + nu) right(x + mu)^+ on the sites of a parity: the way from x to x + mu by three sides of a
/// plaquette, above. Collective, as all below.
void add_above(engine& by, int parity, matrices& out, const_matrix_view left, const_matrix_view middle,
               const_matrix_view right, int mu, int nu);
/// out(x) += (left^+ middle right(. + mu))(x - nu): that below.
void add_below(engine& by, int parity, matrices& out, const_matrix_view left, const_matrix_view middle,
               const_matrix_view right, int mu, int nu);

/// Of the links in direction mu from sites of a parity: the sum over the six plaquettes of a link of what the link
/// is to be parallel to, so that they contribute Re tr U staple^+.
void staples(engine& by, matrices& out, const links<double>& u, int parity, int mu);
/// The same for the eighteen rectangles of a link.
void rectangle_staples(engine& by, matrices& out, const links<double>& u, int parity, int mu);

}  // namespace plaq::lqcd
