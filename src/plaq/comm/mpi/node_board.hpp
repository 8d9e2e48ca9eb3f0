// Memory that the ranks of a node share: their doorbells, and which of them share cores.
#pragma once
#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

#include "plaq/task/doorbell.hpp"

namespace plaq::comm {

/// Attaches to the memory of the ranks of this node, which stays mapped until the process ends, and takes the place of
/// this rank in it. `number` is the same on all of them. Returns their places; empty if memory cannot be shared: then
/// threads that wait for messages sleep for short times. Once in a process.
std::span<task::detail::doorbell::place> attach_to_node(std::uint32_t number, int rank, int ranks);

/// Set of hardware threads.
using cpu_set = std::bitset<4096>;
/// Returns for each process whether others use its cores too: whether more processes use its hardware threads than all
/// of these may use together. `limit`: of their processor time, in cores; 0 for none.
std::vector<bool> find_sharing(std::span<const cpu_set> of_processes, double limit);

}  // namespace plaq::comm
