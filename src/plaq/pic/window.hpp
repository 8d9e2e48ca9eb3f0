// A box that moves: in the patch, what is there goes one cell to lower x.
#pragma once
#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// E and B of the cell behind, in own cells; nothing at the high side of the box. Particles that are in the next
/// patch by then come back in the parcel; those that are out of the box are counted as having left by the low side
/// of x, in the next record.
template <class T>
parcel<T> shift(const plan& p, patch<T>& me);

}  // namespace plaq::pic
