// The ranks and workers of a test.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "plaq/comm/job/world.hpp"
#include "plaq/lqcd/engine.hpp"
#include "plaq/lqcd/lattice.hpp"

namespace plaq::lqcd {

inline const comm::communicator& world() {
  static const comm::communicator w = comm::world();
  return w;
}

/// This rank's messages and workers, and those of a job of its own.
struct job {
  explicit job(const comm::communicator& ranks, std::string_view backend = "fiber", int workers = 1)
      : hands(make_workers(backend, {.workers = workers})), messages(ranks), together(ranks) {}
  std::unique_ptr<workers> hands;
  comm::messenger messages;
  comm::collectives together;
  engine by{*hands, messages, together};
};

inline comm::communicator alone() { return comm::communicator(comm::serial_wire()); }

/// All ways to cut a lattice for the ranks there are.
inline std::vector<coordinates> grids(const coordinates& extents) {
  std::vector<coordinates> found;
  const coordinates most{world().size() + 1, world().size() + 1, world().size() + 1, world().size() + 1};
  for (std::int64_t i = 0; i < product(most); ++i) {
    const auto grid = place_in(i, most);
    bool fits = product(grid) == world().size();
    for (int mu = 0; fits && mu < 4; ++mu) fits = extents[mu] % (2 * grid[mu]) == 0;
    if (fits) found.push_back(grid);
  }
  return found;
}

}  // namespace plaq::lqcd
