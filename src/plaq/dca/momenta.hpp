// Momenta of a cluster.
#pragma once
#include <complex>
#include <vector>

namespace plaq::dca {

/// Tables of a cluster's momenta, which Python's Cluster computes.
struct momentum_tables {
  int size;                                   ///< number of momenta, and of sites
  std::vector<std::complex<double>> fourier;  ///< [K][R]: exp(-i K.R)
  std::vector<int> sum;                       ///< [K][Q]: index of K + Q
  std::vector<int> minus;                     ///< [K]: index of -K

  int plus(int k, int q) const { return sum[k * size + q]; }
};

}  // namespace plaq::dca
