// Ionisation of a gas at rest by particles, by chance.
#pragma once
#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Linear between the table's entries; 0 below the first energy, the last value above the last.
double cross_section(const ionising& how, double energy);

/// Each particle ionises in a step with the probability 1 - exp(-n sigma v dt). It keeps, and the new electron
/// gets, a part at random of its energy less the loss, both in directions at random; the new ion has the gas's
/// temperature. Both begin where it is, with its weight. (What is new does not ionise in the same step; of the gas
/// nothing is used up.)
template <class T>
void ionise(const plan& p, patch<T>& me);

}  // namespace plaq::pic
