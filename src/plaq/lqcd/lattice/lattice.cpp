#include "plaq/lqcd/lattice/lattice.hpp"

#include <optional>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

namespace {

bool fits(const coordinates& extents, const coordinates& grid) {
  for (int mu = 0; mu < 4; ++mu)
    if (extents[mu] % (2 * grid[mu]) != 0) return false;
  return true;
}

}  // namespace

std::string to_string(const coordinates& c) {
  std::string text;
  for (int mu = 0; mu < 4; ++mu) text += (mu ? " x " : "") + std::to_string(c[mu]);
  return text;
}

lattice::lattice(const coordinates& extents, const coordinates& grid, int rank)
    : extents(extents), grid(grid), rank(rank) {
  for (int mu = 0; mu < 4; ++mu) {
    if (extents[mu] < 2 || extents[mu] % 2)
      throw input_error("a lattice of " + to_string(extents) + ": extents must be even");
    if (grid[mu] < 1) throw input_error("a grid of " + to_string(grid) + " ranks: each direction needs at least one");
  }
  if (!fits(extents, grid))
    throw input_error("a lattice of " + to_string(extents) + " cannot be cut for a grid of " + to_string(grid) +
                      " ranks: each rank needs the same even number of sites in each direction");
  if (rank < 0 || rank >= product(grid))
    throw input_error("rank " + std::to_string(rank) + " is not in a grid of " + to_string(grid) + " ranks");
}

coordinates lattice::local() const {
  coordinates l = extents;
  for (int mu = 0; mu < 4; ++mu) l[mu] /= grid[mu];
  return l;
}

coordinates lattice::origin() const {
  coordinates o = rank_in_grid(), l = local();
  for (int mu = 0; mu < 4; ++mu) o[mu] *= l[mu];
  return o;
}

coordinates choose_grid(int ranks, const coordinates& extents) {
  std::optional<coordinates> best;
  std::pair<std::int64_t, int> least;  // sites at surfaces, directions that are cut
  coordinates g;
  for (g[0] = 1; g[0] <= ranks; ++g[0])
    for (g[1] = 1; ranks % g[0] == 0 && g[0] * g[1] <= ranks; ++g[1])
      for (g[2] = 1; ranks % (g[0] * g[1]) == 0 && g[0] * g[1] * g[2] <= ranks; ++g[2]) {
        if (ranks % (g[0] * g[1] * g[2]) != 0) continue;
        g[3] = ranks / (g[0] * g[1] * g[2]);
        if (!fits(extents, g)) continue;
        std::pair<std::int64_t, int> surface;
        for (int mu = 0; mu < 4; ++mu)
          if (g[mu] > 1) surface.first += product(extents) / extents[mu] * g[mu], ++surface.second;
        // Among equal surfaces the grid that cuts the first directions: their faces are contiguous in memory.
        if (!best || surface < least || (surface == least && g > *best)) best = g, least = surface;
      }
  if (!best)
    throw input_error("a lattice of " + to_string(extents) + " cannot be cut for " + std::to_string(ranks) +
                      " ranks: each rank needs the same even number of sites in each direction");
  return *best;
}

}  // namespace plaq::lqcd
