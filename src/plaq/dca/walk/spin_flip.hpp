// Flip of the auxiliary spin of a vertex, on the host and on devices.
#pragma once
#include "plaq/base/anywhere.hpp"

namespace plaq::dca {

/// Factor y by which a flip multiplies x = e^V - 1: y = (e^-V - 1) / (e^V - 1) = -e^-V.
PLAQ_ANYWHERE inline double flip_factor(double x) { return -1 / (1 + x); }

/// Ratio of det N^-1 after the flip to det N^-1 before; n is the vertex's diagonal element of N.
PLAQ_ANYWHERE inline double flip_ratio(double x, double n) { return 1 + (flip_factor(x) - 1) * (1 - n); }

}  // namespace plaq::dca
