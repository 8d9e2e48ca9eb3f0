// Numbers for the kernels of the tests.
#pragma once
#include <vector>

#include "plaq/base/random.hpp"

namespace plaq::gpu {

inline std::vector<double> numbers(int n, std::uint64_t seed) {
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(unit_interval(random_words({.seed = seed}, i)[0]) - 0.5);
  return out;
}

inline std::vector<float> floats(int n, std::uint64_t seed) {
  const auto x = numbers(n, seed);
  return {x.begin(), x.end()};
}

}  // namespace plaq::gpu
