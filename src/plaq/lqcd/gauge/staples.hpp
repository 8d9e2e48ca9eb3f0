// Staples of links: the other sides of plaquettes and rectangles.
#pragma once
#include <memory>

#include "plaq/lqcd/gauge/matrices.hpp"

namespace plaq::lqcd {

/// Sums of paths from a site to its neighbour along three sides of a plaquette, with workspace. Collective, as all
/// below.
class three_sides {
 public:
  three_sides(context& ctx, const std::shared_ptr<const site_layout>& layout)
      : ctx_(ctx), a_(layout), b_(layout), c_(layout) {}

  /// Computes out(x) += left(x) middle(x + nu) right(x + mu)^+ on the sites of a parity: the path from x to x + mu
  /// above.
  void add_above(int parity, matrices& out, const_matrix_view left, const_matrix_view middle, const_matrix_view right,
                 int mu, int nu);
  /// Computes out(x) += (left^+ middle right(. + mu))(x - nu): the path below.
  void add_below(int parity, matrices& out, const_matrix_view left, const_matrix_view middle, const_matrix_view right,
                 int mu, int nu);

 private:
  context& ctx_;
  matrices a_, b_, c_;
};

/// Computes the sum of the six staples of plaquettes for links in direction mu at sites of a parity: these plaquettes
/// contribute Re tr U staple^+. Planes are those of mu with directions from `lowest` up.
void staples(context& ctx, matrices& out, const links<double>& u, int parity, int mu, int lowest = 0);
/// Computes the sum of the staples of the eighteen rectangles of a link.
void rectangle_staples(context& ctx, matrices& out, const links<double>& u, int parity, int mu);

/// Computes 1 - 8 c1 times the staples of plaquettes plus c1 times those of rectangles.
void weighted_staples(context& ctx, matrices& out, const links<double>& u, int parity, int mu, double c1);

}  // namespace plaq::lqcd
