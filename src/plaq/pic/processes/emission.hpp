// Emission of particles by plates.
#pragma once
#include <cstddef>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Emits particles of species s from the plates in a patch: with their momentum, at random times of the step, as E and
/// the particles are before the step. The opposite charge stays on the patch's plates; a plate that is a conductor
/// cancels it by its image.
template <class T>
moving_particles<T> emit(const plan& p, patch<T>& self, std::size_t s);

}  // namespace plaq::pic
