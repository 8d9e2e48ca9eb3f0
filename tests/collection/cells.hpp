// What the suites of one process share: cells whose values show the order in which they were mixed.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "network.hpp"
#include "plaq/base/random.hpp"
#include "plaq/collection/collection.hpp"

namespace plaq::test {

inline std::vector<std::string> no_errors(int ranks) { return std::vector<std::string>(std::size_t(ranks)); }

/// A number for each (seed, element, step).
inline std::uint64_t drawn(unsigned seed, index2 at, std::int64_t step) {
  return random_words({.seed = seed, .purpose = 5, .i = std::uint32_t(at.x), .j = std::uint32_t(at.y)},
                      std::uint64_t(step))[0];
}

// Cells that mix their value with what their neighbours send, in an order that shows in the bits.
struct cell {
  double u = 0;
  std::vector<double> history;
  void serialize(archive& ar) { ar(u, history); }
};
inline const box all_cells(index2{5, 4}, true);
inline cell first(index2 at) { return {1.0 / (1 + at.x + 5 * at.y), {}}; }
/// Neither commutative nor associative: it tells which values were combined in which brackets.
inline double bracket(double a, double b) { return a / 3 + b; }
inline double mixed(double u, double v) { return 0.9 * u + 0.1 / (1 + v * v) - 0.01 * u * v; }

/// More of them by hand: PLAQ_TEST_SEEDS=1000.
inline unsigned seeds(unsigned few) {
  const char* asked = std::getenv("PLAQ_TEST_SEEDS");
  return asked ? unsigned(std::atoi(asked)) : few;
}

}  // namespace plaq::test
