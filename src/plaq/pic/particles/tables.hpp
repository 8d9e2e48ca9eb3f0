// Tables of kernels for 1, 2, 3 dimensions and orders 1, 2, 3.
#pragma once

/// Initialiser of a table of F<D, Order>.
#define PLAQ_PIC_TABLE(F)                                                                   \
  {                                                                                         \
    {F<1, 1>, F<1, 2>, F<1, 3>}, {F<2, 1>, F<2, 2>, F<2, 3>}, { F<3, 1>, F<3, 2>, F<3, 3> } \
  }
