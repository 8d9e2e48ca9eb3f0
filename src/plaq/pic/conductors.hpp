// Conductors within the box.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "plaq/pic/particles.hpp"

namespace plaq::pic {

template <class T>
struct patch;

/// Nodes have numbers, x fastest.
inline std::int64_t number_of_node(const plan& p, const point& at) {
  return at[0] + std::int64_t(p.nodes(0)) * (at[1] + std::int64_t(p.nodes(1)) * at[2]);
}

/// Nodes of conductors that have a neighbour which belongs to none, in rising order, with the potential of theirs;
/// of several the last one's.
std::vector<std::pair<std::int64_t, double>> surface_of(const plan& p);

/// What of conductors lies in a patch: where the block has nodes of theirs, and cells with no other nodes. Empty
/// without any.
struct solid {
  std::vector<std::uint8_t> nodes, cells;
  solid() = default;
  solid(const plan& p, const block& m);
  void serialize(archive& ar) { ar(nodes, cells); }
};

/// E along edges between nodes of conductors becomes 0, in own cells.
template <class T>
void shield(patch<T>& me);
/// Particles in solid cells are no more; counted in the record.
template <class T>
void absorb(const plan& p, patch<T>& me);

}  // namespace plaq::pic
