#include "plaq/dca/g0_table.hpp"

#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::dca {

g0_table::g0_table(double beta, int sites, int segments, std::vector<double> coefficients, std::vector<int> difference)
    : beta_(beta),
      scale_(segments / beta),
      sites_(sites),
      segments_(segments),
      stride_(std::size_t(terms) * segments),
      coefficients_(std::move(coefficients)),
      difference_(std::move(difference)) {
  check(beta > 0 && sites > 0 && segments > 0, "g0_table: beta, sites and segments must be positive");
  check(difference_.size() == std::size_t(sites) * sites, "g0_table: differences must be sites x sites");
  for (int d : difference_)
    check(d >= 0 && (d + 1) * stride_ <= coefficients_.size(), "g0_table: a site difference has no coefficients");
}

template <class Real>
void g0_table::both_ways(int count, const int* sites, const double* taus, int site, double tau, Real* forward,
                         Real* backward) const {
  const int* difference = &difference_[std::size_t(site) * sites_];
  for (int i = 0; i < count; ++i) {
    const double* c = &coefficients_[std::size_t(difference[sites[i]]) * stride_];
    const double distance = std::abs(taus[i] - tau);
    const double later = value(c, distance);
    const double earlier = -value(c, beta_ - distance);  // g(-t) = -g(beta - t)
    const bool before = taus[i] < tau;
    forward[i] = Real(before ? earlier : later);
    backward[i] = Real(before ? later : earlier);
  }
}
template void g0_table::both_ways<double>(int, const int*, const double*, int, double, double*, double*) const;
template void g0_table::both_ways<float>(int, const int*, const double*, int, double, float*, float*) const;

}  // namespace plaq::dca
