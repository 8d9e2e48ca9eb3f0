// Ionisation of a gas at rest by particles, by chance.
#pragma once
#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Returns the cross section at an energy: linear between the table's entries; 0 below the first energy, the last value
/// above the last one.
double cross_section(const ionisation_process& process, double energy);

/// Ionises in a step with the probability 1 - exp(-n sigma v dt) of each particle. Its energy less the binding energy
/// is shared at random between the particle and the new electron, both in directions at random. The new ion has the
/// gas's temperature. Electron and ion begin at the particle, with its weight; they do not ionise in the same step. The
/// gas is not used up.
template <class T>
void ionise(const plan& p, patch<T>& self);

}  // namespace plaq::pic
