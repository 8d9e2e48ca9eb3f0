// A vertex whose auxiliary spin is turned over, on the host and on devices.
#pragma once
#include "plaq/base/anywhere.hpp"

namespace plaq::dca {

/// What e^V - 1 = x is divided by itself before: y = (e^-V - 1) / (e^V - 1) = -e^-V.
PLAQ_ANYWHERE inline double turned_over(double x) { return -1 / (1 + x); }

/// det N^-1 after over det N^-1 before; n is the vertex's diagonal element of N.
PLAQ_ANYWHERE inline double flip_ratio(double x, double n) { return 1 + (turned_over(x) - 1) * (1 - n); }

}  // namespace plaq::dca
