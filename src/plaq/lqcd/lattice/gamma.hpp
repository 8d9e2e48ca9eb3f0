// The gamma matrices, in the basis of openQCD and tmLQCD, Euclidean and hermitian:
//
//   gamma_mu = ( 0      e_mu )    e_0 = -1,  e_k = -i sigma_k,   gamma_5 = gamma_0 gamma_1 gamma_2 gamma_3 =
//   diag(1, 1, -1, -1)
//              ( e_mu^+  0   )
//
// with directions 0 ... 3 = t, x, y, z. Every e_mu has one entry in each row, a power of i. No other
// file repeats it; python/plaq/lqcd/fields/gamma.py has the matrices and changes of basis.
#pragma once

namespace plaq::lqcd::gamma {

/// Entry of a row of e_mu: i^phase in this column.
struct entry {
  int column, phase;
};
inline constexpr entry e[4][2] = {{{0, 2}, {1, 2}}, {{1, 3}, {0, 3}}, {{1, 2}, {0, 0}}, {{0, 3}, {1, 1}}};

}  // namespace plaq::lqcd::gamma
