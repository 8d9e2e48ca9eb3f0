// Proposals of single vertices, as walkers of the host and of devices decide them.
//
// What is proposed is a site and a time, not a spin: with w_s the ratio of weights that a vertex of spin s would bring,
// it comes with K/(k+1) (|w+| + |w-|)/2 and takes spin s with a probability as |w_s|; one of k vertices goes with
// (k/K) 2 / (|w+| + |w-|), both w from the configuration without it. Where there is a local moment nearly all of the
// weight is one spin's, and of proposals that draw it evenly half are in vain.
#pragma once
#include <cmath>

#include "plaq/base/anywhere.hpp"

namespace plaq::dca {

/// e^V - 1 of a vertex whose spin is parallel to that of the electrons, and of one that is antiparallel.
struct strengths {
  double parallel, antiparallel;
  PLAQ_ANYWHERE double operator()(int sigma, int spin) const { return sigma * spin > 0 ? parallel : antiparallel; }
};

/// The spin that a new vertex would have. `up` and `down`: the determinant of that sigma grows by 1 + (e^V - 1) up.
struct insertion {
  int spin;
  double mean;    ///< (|w+| + |w-|)/2
  bool negative;  ///< whether the weight changes its sign

  PLAQ_ANYWHERE insertion(const strengths& x, double up, double down, double uniform) {
    const double plus = (1 + x.parallel * up) * (1 + x.antiparallel * down);
    const double minus = (1 + x.antiparallel * up) * (1 + x.parallel * down);
    const double sum = std::abs(plus) + std::abs(minus);
    spin = uniform * sum < std::abs(plus) ? 1 : -1;
    mean = 0.5 * sum;
    negative = (spin > 0 ? plus : minus) < 0;
  }
};

/// e^V - 1 with the spin turned over, divided by x = e^V - 1: -e^-V.
PLAQ_ANYWHERE inline double turned_over(double x) { return -1 / (1 + x); }

/// det N^-1 with the spin of a vertex turned over, divided by that before; n is its diagonal element of N.
PLAQ_ANYWHERE inline double flip_ratio(double x, double n) { return 1 + (turned_over(x) - 1) * (1 - n); }

/// 2 / (|w+| + |w-|) of a vertex with this spin and these diagonal elements of N of both sigma.
PLAQ_ANYWHERE inline double removal_ratio(const strengths& x, int spin, double n_up, double n_down) {
  const double flip = flip_ratio(x(1, spin), n_up) * flip_ratio(x(-1, spin), n_down);
  return 2 * std::abs(n_up * n_down) / (1 + std::abs(flip));
}

}  // namespace plaq::dca
