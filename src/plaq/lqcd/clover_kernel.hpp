// Products of spinors with a matrix of their own at each site, which leaves chiralities apart.
#pragma once
#include <cstddef>

#include "plaq/lqcd/field.hpp"

namespace plaq::lqcd {

/// Two complex 6 x 6 matrices on each site, of the upper and the lower two spins: row i, column j of the first or
/// second is component 36 c + 6 i + j; i = 3 s + colour with the first or second spin s of the two.
template <class T>
using chiral_blocks = field<T, 144>;

/// out = B in, or B^+ in, or these added to out, for blocks first ... end - 1 of what starts at the pointers. In
/// place, if need be.
template <class T>
void multiply_blocks(int lanes, std::size_t first, std::size_t end, T* out, const T* B, const T* in, bool dagger,
                     bool add);

}  // namespace plaq::lqcd
