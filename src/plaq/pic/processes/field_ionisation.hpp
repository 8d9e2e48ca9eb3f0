// Field ionisation: electrons that tunnel out of atoms and ions.
#pragma once
#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Ionises particles by the field that they feel, E of the patch, with the probability 1 - exp(-W dt) in a step. The
/// particles of a patch are sorted by cell. Random numbers are functions of the process, patch, cell, number in the
/// cell, and step. An ion is ionised at most once in a step.
template <class T>
void ionise_by_field(const plan& p, patch<T>& self);

}  // namespace plaq::pic
