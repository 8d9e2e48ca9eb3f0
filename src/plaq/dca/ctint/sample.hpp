// One measured configuration: all that an accumulator reads of a walker.
#pragma once
#include <cstdint>
#include <vector>

#include "plaq/linalg/matrix.hpp"

namespace plaq::dca::ctint {

/// Operators of one kind in one block, ordered by flavour.
struct operators {
  std::vector<int> first;  ///< those of flavour x are first[x] ... first[x + 1] - 1
  std::vector<int> flavour;
  std::vector<double> tau;
};

/// Configuration of one block: G = g - g M g with M = D^-1, rows by creators, columns by annihilators.
struct block_sample {
  operators create, annihilate;
  linalg::matrix<float> m;

  int size() const { return int(create.tau.size()); }
};

/// Configuration of the walk.
struct sample {
  std::uint64_t index = 0;  ///< number of this measurement in its chain and bin
  double sign = 1;
  int order = 0;  ///< vertices
  std::vector<block_sample> blocks;
};

}  // namespace plaq::dca::ctint
