// One measured configuration: all that an accumulator reads of a walker.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plaq/linalg/matrix.hpp"

namespace plaq::dca {

/// Configuration with its vertices ordered by site, and M_sigma = (e^V - 1) N_sigma in that order.
struct sample {
  std::uint64_t index = 0;  ///< number of this measurement in its chain and bin
  double sign = 1;
  double mis_weight = 1;                   ///< weight in multiple importance sampling, see neighbours.hpp
  std::vector<int> first;                  ///< vertices of site x are first[x], ..., first[x + 1] - 1; Nc + 1 entries
  std::vector<double> tau;                 ///< k entries
  std::array<linalg::matrix<float>, 2> m;  ///< k x k, [up, down]
  std::array<std::vector<double>, 2> strength, n_diagonal;  ///< e^V - 1 and N_pp

  /// Factor of the measured values of this configuration.
  double weight() const { return sign * mis_weight; }

  int order() const { return int(tau.size()); }
};

}  // namespace plaq::dca
