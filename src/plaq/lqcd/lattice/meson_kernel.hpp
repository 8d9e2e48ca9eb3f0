// Sums over colours and spins of two propagators on eight sites, one in each lane. Compiled for every instruction set.
#pragma once
#include "plaq/lqcd/lattice/baryon_kernel.hpp"

namespace plaq::lqcd::detail {

/// Spin pairs of lines 1 and 2, and the number of weights of this term.
struct meson_term {
  int first, second, weights;
};
/// Weight of a term in a row.
struct meson_weight {
  int row;
  double re, im;
};

/// Lines [colour pair][spin pair][re, im][site] of eight sites, and lists: terms, and weights in the order of terms.
/// Sets `sums` [row][re, im][site] to the sum of weight S1(i) S2(i)^* over terms and colour pairs i.
struct meson_args {
  const double* lines[2];
  int colour_pairs, spin_pairs, terms, rows;
  const meson_term* term;
  const meson_weight* weight;
  double* sums;
};
void sum_mesons(const meson_args& args);

}  // namespace plaq::lqcd::detail
