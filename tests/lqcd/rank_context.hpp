// Ranks and workers of a test.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "plaq/comm/job/world.hpp"
#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/lattice.hpp"

namespace plaq::lqcd {

/// Communicator of all ranks.
inline const comm::communicator& world() {
  static const comm::communicator w = comm::world();
  return w;
}

/// Messages and workers of this rank in a communicator.
struct rank_context {
  explicit rank_context(const comm::communicator& ranks, std::string_view backend = "fiber", int workers = 1)
      : workers(make_workers(backend, {.workers = workers})), messages(ranks), collectives(ranks) {}
  std::unique_ptr<lqcd::workers> workers;
  comm::messenger messages;
  comm::collectives collectives;
  context ctx{*workers, messages, collectives};
};

/// Communicator of this rank alone.
inline comm::communicator single_rank() { return comm::communicator(comm::serial_wire()); }

/// Grids of all ranks that a lattice can be cut for.
inline std::vector<coordinates> grids(const coordinates& extents) {
  std::vector<coordinates> list;
  const coordinates most{world().size() + 1, world().size() + 1, world().size() + 1, world().size() + 1};
  for (std::int64_t i = 0; i < product(most); ++i) {
    const auto grid = coordinates_in(i, most);
    bool fits = product(grid) == world().size();
    for (int mu = 0; fits && mu < 4; ++mu) fits = extents[mu] % (2 * grid[mu]) == 0;
    if (fits) list.push_back(grid);
  }
  return list;
}

}  // namespace plaq::lqcd
