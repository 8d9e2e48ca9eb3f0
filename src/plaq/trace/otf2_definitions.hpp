// Definitions of an OTF2 archive: the meaning of the ids in its events.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "plaq/trace/otf2.hpp"
#include "plaq/trace/otf2_call.hpp"

namespace plaq::trace::otf2 {

/// Ids of the attributes at the slices of tasks.
constexpr OTF2_AttributeRef task_attribute = 0, parent_attribute = 1;

/// Id of the team of a process.
inline OTF2_CommRef team_of(int process) { return static_cast<OTF2_CommRef>(process); }

/// Id of the communicator of all ranks, behind those of the teams.
inline OTF2_CommRef all_ranks(const archive& all) {
  return static_cast<OTF2_CommRef>(std::ranges::count_if(all.processes, [](const auto& p) { return p.creator < 0; }));
}

/// Id of a counter's metric; those of the quantities come before.
inline OTF2_MetricRef metric_of(const archive& all, int counter) {
  return static_cast<OTF2_MetricRef>(all.quantities.size()) + static_cast<OTF2_MetricRef>(counter);
}

/// Writes the definitions of `all`; event_counts are those of its locations.
void write_definitions(OTF2_GlobalDefWriter* writer, const archive& all,
                       const std::vector<std::uint64_t>& event_counts);

}  // namespace plaq::trace::otf2
