#include "plaq/lqcd/lattice/meson_kernel.hpp"

#include "plaq/lqcd/lattice/su3.hpp"

namespace plaq::lqcd::detail {

namespace {

using linalg::load, linalg::same, linalg::store;

constexpr int lanes = linalg::native_lanes<double> < cube_sites ? linalg::native_lanes<double> : cube_sites;
using V = linalg::simd<double, lanes>;
constexpr int number = 2 * cube_sites;

PLAQ_KERNEL cx<V> at(const double* from) { return {load<V>(from), load<V>(from + cube_sites)}; }

/// Adds all terms to rows, on the sites of a register from `lane` on.
PLAQ_KERNEL void add_terms(const meson_args& args, int lane) {
  const int colour_pair = args.spin_pairs * number;
  const meson_weight* weight = args.weight;
  for (const meson_term* term = args.term; term != args.term + args.terms; ++term) {
    const double* first = args.lines[0] + term->first * number + lane;
    const double* second = args.lines[1] + term->second * number + lane;
    cx<V> product{};
    for (int i = 0; i < args.colour_pairs; ++i)
      product = fma<true>(at(second + i * colour_pair), at(first + i * colour_pair), product);
    for (const meson_weight* last = weight + term->weights; weight != last; ++weight) {
      double* const to = args.sums + weight->row * number + lane;
      const auto sum = fma(cx<V>{same<V>(weight->re), same<V>(weight->im)}, product, at(to));
      store(to, sum.re);
      store(to + cube_sites, sum.im);
    }
  }
}

}  // namespace

void sum_mesons(const meson_args& args) {
  for (int n = 0; n < args.rows * number; ++n) args.sums[n] = 0;
  for (int lane = 0; lane < cube_sites; lane += lanes) add_terms(args, lane);
}

}  // namespace plaq::lqcd::detail
