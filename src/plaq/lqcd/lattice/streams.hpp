// Random streams of lattices, by purpose and site.
#pragma once
#include <cstdint>

#include "plaq/base/random.hpp"

namespace plaq::lqcd {

/// Purpose of random numbers, a coordinate of their stream.
enum class random_purpose : std::uint32_t {
  gauge_start = 1,
  source = 2,
  gauge_transformation = 3,
  heat_bath = 4,
  momenta = 5,
  pseudofermion = 6,
  test_vectors = 7
};

/// Returns the stream of a direction and a site. `first` and `second` depend on the purpose, such as a configuration
/// and a sweep; `site` is the index in the global lattice, the same for any ranks and layout.
inline stream_id stream_at(std::uint64_t seed, random_purpose purpose, std::uint32_t first, std::uint32_t second,
                           int mu, std::int64_t site) {
  return {.seed = seed,
          .purpose = std::uint32_t(purpose),
          .i = first,
          .j = second,
          .k = std::uint32_t(mu),
          .l = std::uint64_t(site)};
}

}  // namespace plaq::lqcd
