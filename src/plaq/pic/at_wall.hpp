// Particles that meet a side of the box in a step.
#pragma once
#include <span>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Takes particle i of species s, which has its new momentum and is where it was, to the end of the step, with its
/// current: it goes to the wall, where it stays, is reflected, or begins anew with a momentum of the wall, and so on.
/// Returns whether it is still there; what left is in the record. `number`: of the particles of this species and patch
/// that meet a wall in this step, for random numbers.
template <class T>
bool meet_wall(const plan& p, patch<T>& me, std::size_t s, std::size_t i, std::uint64_t number);

}  // namespace plaq::pic
