// The random streams of lattices: what numbers are drawn for, and where.
#pragma once
#include <cstdint>

#include "plaq/base/random.hpp"

namespace plaq::lqcd {

/// What random numbers are for: their `purpose`.
enum class draws : std::uint32_t {
  gauge_start = 1,
  source = 2,
  gauge_transformation = 3,
  heat_bath = 4,
  momenta = 5,
  pseudofermion = 6,
  test_vectors = 7
};

/// The coordinates are two numbers of the purpose's own (such as a configuration and a sweep), direction, and the
/// number of the site in the global lattice: the same for any ranks and layout.
inline stream_id stream_at(std::uint64_t seed, draws purpose, std::uint32_t first, std::uint32_t second, int mu,
                           std::int64_t site) {
  return {.seed = seed,
          .purpose = std::uint32_t(purpose),
          .i = first,
          .j = second,
          .k = std::uint32_t(mu),
          .l = std::uint64_t(site)};
}

}  // namespace plaq::lqcd
