// How a number of pieces lies in a rectangle.
#pragma once
#include "plaq/collection/index.hpp"

namespace plaq::bench {

/// As square as it can be: x * y = n, x >= y.
inline index2 factors(int n) {
  int y = 1;
  for (int d = 1; d * d <= n; ++d)
    if (n % d == 0) y = d;
  return {n / y, y};
}

}  // namespace plaq::bench
