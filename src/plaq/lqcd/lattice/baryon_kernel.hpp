// Sums over colours and spins of three propagators on eight sites, one in each lane. Compiled for every instruction
// set.
#pragma once

namespace plaq::lqcd::detail {

inline constexpr int cube_sites = 8;
inline constexpr int most_terms = 256;

/// Spin pairs of lines 1 and 2.
struct baryon_term {
  int first, second;
};
/// Term of a row, and the number of weights of line 3 for it.
struct baryon_group {
  int term, weights;
};
/// Weight of a spin pair of line 3; pair + 16: i times the weight.
struct baryon_weight {
  int third;
  double weight;
};

/// Lines [colour pair][spin pair][re, im][site] of eight sites, and lists: terms, numbers of groups of each row, groups
/// and weights in the order of rows. Line 3 has 32 spin pairs, the second half i times the first. Sets `sums` [row][re,
/// im][site] to the sum of weight eps_ijk eps_i'j'k' S1(i i') S2(j j') S3(k k').
struct baryon_args {
  const double* lines[3];
  int terms, rows;
  const baryon_term* term;
  const int* groups;
  const baryon_group* group;
  const baryon_weight* weight;
  double* sums;
};
void sum_baryons(const baryon_args& args);

}  // namespace plaq::lqcd::detail
