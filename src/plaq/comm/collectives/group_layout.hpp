// Layout of a group of ranks: their nodes and their ranks in the world.
#pragma once
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "plaq/comm/schedules/node_map.hpp"

namespace plaq::comm {

/// World ranks of a group's members: first, first + step, ..., or a list.
class world_ranks {
 public:
  world_ranks(int first, int step) : first_(first), step_(step) {}
  explicit world_ranks(std::vector<int> all) : all_(std::move(all)) {}
  int operator[](int rank) const { return all_.empty() ? first_ + step_ * rank : all_[std::size_t(rank)]; }

 private:
  int first_ = 0, step_ = 0;
  std::vector<int> all_;
};

/// Layout that all ranks of a group agree on once. Its memory is constant, unless nodes have ranks in another order or
/// number than one after the other, equally many each: then 4 to 12 bytes a rank.
struct group_layout {
  node_map nodes;
  std::optional<world_ranks> members = {};  ///< none where a member has no rank in the world
};

}  // namespace plaq::comm
