// Particles whose path in a step is followed: at sides of the box and conductors, emitted within the step, or longer
// than a cell.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// End of a path: completed in a cell of this patch or of the next one; removed at a side of the box or in a conductor;
/// at the side of the next patch, with a part of the step remaining.
enum class path_end { completed, removed, next_patch };

/// Moves particle i of species s, which has its new momentum and its old position, through the last `remaining` part of
/// the step on a straight line, cell by cell, with its current. A wall takes it, reflects it or re-emits it with a
/// momentum of the wall, and a solid cell takes it; the record counts both. In an electrostatic step the path is
/// followed to the side of the patch, and `remaining` becomes the part that is left; else it ends a cell beyond at
/// most. `number`: of the particles of this species and patch that are followed in this step, for random numbers.
template <class T>
path_end apply_particle_boundaries(const plan& p, patch<T>& self, std::size_t s, std::size_t i, std::uint64_t number,
                                   double& remaining);

/// Counts the particles of species s in solid cells in the record, but those of a list in rising order, and returns
/// their numbers. With Maxwell's equations their charge goes to the nodes of these cells by a current.
template <class T>
std::vector<std::uint32_t> absorb_in_conductors(const plan& p, patch<T>& self, std::size_t s,
                                                std::span<const std::uint32_t> but = {});

}  // namespace plaq::pic
