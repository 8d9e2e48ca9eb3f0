#include "plaq/lqcd/lattice/baryon_kernel.hpp"

#include "plaq/lqcd/lattice/su3.hpp"

namespace plaq::lqcd::detail {

namespace {

using linalg::fma, linalg::fnma, linalg::load, linalg::same, linalg::store;

constexpr int lanes = linalg::native_lanes<double> < cube_sites ? linalg::native_lanes<double> : cube_sites;
using V = linalg::simd<double, lanes>;
constexpr int colours = 3, pairs = 16, number = 2 * cube_sites;

PLAQ_KERNEL cx<V> at(const double* line, int colour_pair, int spin_pair) {
  const double* from = line + (colour_pair * pairs + spin_pair) * number;
  return {load<V>(from), load<V>(from + cube_sites)};
}

PLAQ_KERNEL void add_product(cx<V>& sum, cx<V> a, cx<V> b) {
  sum.re = fnma(a.im, b.im, fma(a.re, b.re, sum.re));
  sum.im = fma(a.im, b.re, fma(a.re, b.im, sum.im));
}

/// Sets the products [term] of lines 1 and 2 for the colours (k, k') of line 3.
PLAQ_KERNEL void join_two(const baryon_args& args, int k, int k1, int lane, cx<V>* two) {
  const double *first = args.lines[0] + lane, *second = args.lines[1] + lane;
  const int i = (k + 1) % colours, j = (k + 2) % colours, i1 = (k1 + 1) % colours, j1 = (k1 + 2) % colours;
  const int ii = colours * i + i1, ij = colours * i + j1, ji = colours * j + i1, jj = colours * j + j1;
  for (int n = 0; n < args.terms; ++n) {
    const baryon_term& term = args.term[n];
    cx<V> plus{}, minus{};
    add_product(plus, at(first, ii, term.first), at(second, jj, term.second));
    add_product(minus, at(first, ij, term.first), at(second, ji, term.second));
    add_product(plus, at(first, jj, term.first), at(second, ii, term.second));
    add_product(minus, at(first, ji, term.first), at(second, ij, term.second));
    two[n] = {plus.re - minus.re, plus.im - minus.im};
  }
}

/// Adds the rows for the colours (k, k') of line 3 to `sums`.
PLAQ_KERNEL void add_rows(const baryon_args& args, int k, int k1, int lane, const cx<V>* two) {
  const double* third = args.lines[2] + lane + (colours * k + k1) * 2 * pairs * number;
  const baryon_group* group = args.group;
  const baryon_weight* weight = args.weight;
  for (int row = 0; row < args.rows; ++row) {
    V re_re{}, im_im{}, re_im{}, im_re{};
    for (const baryon_group* end = group + args.groups[row]; group != end; ++group) {
      V re{}, im{};
      for (const baryon_weight* last = weight + group->weights; weight != last; ++weight) {
        const double* from = third + weight->third * number;
        const V w = same<V>(weight->weight);
        re = fma(w, load<V>(from), re);
        im = fma(w, load<V>(from + cube_sites), im);
      }
      const cx<V> both = two[group->term];
      re_re = fma(both.re, re, re_re);
      im_im = fma(both.im, im, im_im);
      re_im = fma(both.re, im, re_im);
      im_re = fma(both.im, re, im_re);
    }
    double* const to = args.sums + row * number + lane;
    store(to, load<V>(to) + (re_re - im_im));
    store(to + cube_sites, load<V>(to + cube_sites) + (re_im + im_re));
  }
}

}  // namespace

void sum_baryons(const baryon_args& args) {
  for (int n = 0; n < args.rows * number; ++n) args.sums[n] = 0;
  cx<V> two[most_terms];
  for (int lane = 0; lane < cube_sites; lane += lanes)
    for (int k = 0; k < colours; ++k)
      for (int k1 = 0; k1 < colours; ++k1) {
        join_two(args, k, k1, lane, two);
        add_rows(args, k, k1, lane, two);
      }
}

}  // namespace plaq::lqcd::detail
