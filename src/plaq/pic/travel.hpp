// Particles whose way in a step is followed: those that meet a side of the box, begin within the step, or go far.
#pragma once
#include <cstddef>
#include <cstdint>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Where a way ends: in a cell of this patch, or of the next one; at a side of the box or in a conductor; or at the
/// side of the next patch, with a part of the step still before it.
enum class way_end { here, gone, passes };

/// Takes particle i of species s, which has its new momentum and is where it was, through the last `part` of the
/// step on a straight line, cell by cell, with its current: to a wall, where it stays, is reflected, or begins anew
/// with a momentum of the wall, and so on; to a solid cell, which takes it. In an electrostatic step it goes as far as
/// the patch does, and `part` becomes what is left; else it ends a cell beyond at most. What is gone is in the record.
/// `number`: of the particles of this species and patch that are followed in this step, for random numbers.
template <class T>
way_end travel(const plan& p, patch<T>& me, std::size_t s, std::size_t i, std::uint64_t number, double& part);

}  // namespace plaq::pic
