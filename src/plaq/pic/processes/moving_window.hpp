// Box that moves: the content of a patch is shifted by a cell to lower x.
#pragma once
#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Shifts a patch by a cell: E and B of the next cell in own cells, 0 at the high side of the box. Returns the
/// particles that are in the next patch by then; those that are out of the box count as having left by the low side of
/// x, in the next record.
template <class T>
parcel<T> shift_patch(const plan& p, patch<T>& self);

}  // namespace plaq::pic
