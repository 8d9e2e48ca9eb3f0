// What a link is multiplied with in small loops.
#pragma once
#include <memory>

#include "plaq/lqcd/matrices.hpp"

namespace plaq::lqcd {

/// Ways from a site to its neighbour by three sides of a plaquette, and room to work them out. Collective, as all
/// below.
class three_sides {
 public:
  three_sides(engine& by, const std::shared_ptr<const layout>& where) : by_(by), a_(where), b_(where), c_(where) {}

  /// out(x) += left(x) middle(x + nu) right(x + mu)^+ on the sites of a parity: the way from x to x + mu above.
  void add_above(int parity, matrices& out, const_matrix_view left, const_matrix_view middle, const_matrix_view right,
                 int mu, int nu);
  /// out(x) += (left^+ middle right(. + mu))(x - nu): that below.
  void add_below(int parity, matrices& out, const_matrix_view left, const_matrix_view middle, const_matrix_view right,
                 int mu, int nu);

 private:
  engine& by_;
  matrices a_, b_, c_;
};

/// Of the links in direction mu from sites of a parity: the sum over the six plaquettes of a link of what the link
/// is to be parallel to, so that they contribute Re tr U staple^+. Planes are those of mu with directions from
/// `lowest` on.
void staples(engine& by, matrices& out, const links<double>& u, int parity, int mu, int lowest = 0);
/// The same for the eighteen rectangles of a link.
void rectangle_staples(engine& by, matrices& out, const links<double>& u, int parity, int mu);

}  // namespace plaq::lqcd
