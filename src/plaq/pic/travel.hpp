// Particles that meet a side of the box in a step, or begin within one.
#pragma once
#include <cstddef>
#include <cstdint>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Takes particle i of species s, which has its new momentum and is where it was, through the last `part` of the
/// step, with its current: to a wall, where it stays, is reflected, or begins anew with a momentum of the wall,
/// and so on. Returns whether it is still there; what left is in the record. `number`: of the particles of this
/// species and patch that travel so in this step, for random numbers.
template <class T>
bool travel(const plan& p, patch<T>& me, std::size_t s, std::size_t i, std::uint64_t number, double part = 1);

}  // namespace plaq::pic
