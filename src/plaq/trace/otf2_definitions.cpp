#include "plaq/trace/otf2_definitions.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq::trace::otf2 {

namespace {

class definition_writer {
 public:
  explicit definition_writer(OTF2_GlobalDefWriter* writer) : writer_(writer) { string(""); }

  void write(const archive& all, const std::vector<std::uint64_t>& event_counts) {
    ok(OTF2_GlobalDefWriter_WriteClockProperties(
        writer_, 1'000'000'000, 0, static_cast<std::uint64_t>(all.duration) + 1, OTF2_UNDEFINED_TIMESTAMP));
    const auto paradigm = string("plaq::task");
    ok(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_USER, paradigm,
                                          OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT));
    ok(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_MPI, string("MPI"), OTF2_PARADIGM_CLASS_PROCESS));
    attribute(task_attribute, "task", "id of the task, unique within its rank");
    attribute(parent_attribute, "parent", "id of the task that created it, 0 outside of tasks");
    places(all, event_counts);
    teams(all);
    ranks(all);
    OTF2_RegionRef region = 0;
    for (const auto& name : all.task_names) this->region(region++, name, OTF2_REGION_ROLE_TASK);
    for (const auto& name : all.region_names) this->region(region++, name, OTF2_REGION_ROLE_CODE);
    metrics(all);
  }

 private:
  /// Returns the id of a text, which is written at its first use.
  OTF2_StringRef string(const std::string& text) {
    const auto [place, is_new] = strings_.try_emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
    if (is_new) ok(OTF2_GlobalDefWriter_WriteString(writer_, place->second, text.c_str()));
    return place->second;
  }

  void attribute(OTF2_AttributeRef self, const char* name, const char* meaning) {
    const auto name_id = string(name), meaning_id = string(meaning);
    ok(OTF2_GlobalDefWriter_WriteAttribute(writer_, self, name_id, meaning_id, OTF2_TYPE_UINT64));
  }

  void region(OTF2_RegionRef self, const std::string& name, OTF2_RegionRole role) {
    const auto id = string(name), none = string("");
    ok(OTF2_GlobalDefWriter_WriteRegion(writer_, self, id, id, none, role, OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
                                        none, 0, 0));
  }

  /// Writes the system tree: machine > hosts > processes > locations.
  void places(const archive& all, const std::vector<std::uint64_t>& event_counts) {
    const auto machine = string("machine"), node = string("node");
    ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    ok(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
    for (std::size_t i = 0; i < all.hosts.size(); ++i) {
      const auto self = static_cast<OTF2_SystemTreeNodeRef>(i + 1);
      ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, self, string(all.hosts[i]), node, 0));
      ok(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, self, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
    }
    for (std::size_t i = 0; i < all.processes.size(); ++i) {
      const auto& process = all.processes[i];
      const bool gpu = process.creator >= 0;
      ok(OTF2_GlobalDefWriter_WriteLocationGroup(
          writer_, static_cast<OTF2_LocationGroupRef>(i), string(process.name),
          gpu ? OTF2_LOCATION_GROUP_TYPE_ACCELERATOR : OTF2_LOCATION_GROUP_TYPE_PROCESS,
          static_cast<OTF2_SystemTreeNodeRef>(process.host + 1),
          gpu ? static_cast<OTF2_LocationGroupRef>(process.creator) : OTF2_UNDEFINED_LOCATION_GROUP));
    }
    for (std::size_t i = 0; i < all.locations.size(); ++i) {
      const auto& location = all.locations[i];
      const auto type = location.kind == kind::thread   ? OTF2_LOCATION_TYPE_CPU_THREAD
                        : location.kind == kind::stream ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM
                                                        : OTF2_LOCATION_TYPE_METRIC;
      ok(OTF2_GlobalDefWriter_WriteLocation(writer_, i, string(location.name), type, event_counts[i],
                                            static_cast<OTF2_LocationGroupRef>(location.process)));
    }
  }

  /// Writes one team of threads per process; its members are positions in the list of all threads.
  void teams(const archive& all) {
    std::vector<std::uint64_t> threads;
    std::vector<std::vector<std::uint64_t>> members(all.processes.size());
    for (std::size_t i = 0; i < all.locations.size(); ++i) {
      if (all.locations[i].kind != kind::thread) continue;
      members.at(static_cast<std::size_t>(all.locations[i].process)).push_back(threads.size());
      threads.push_back(i);
    }
    group(0, "all threads", OTF2_GROUP_TYPE_COMM_LOCATIONS, threads);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (all.processes[i].creator >= 0) continue;
      const auto& name = all.processes[i].name;
      const auto group_id = static_cast<OTF2_GroupRef>(i + 1);
      group(group_id, name, OTF2_GROUP_TYPE_COMM_GROUP, members[i]);
      ok(OTF2_GlobalDefWriter_WriteComm(writer_, team_of(static_cast<int>(i)), string(name), group_id,
                                        OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
  }

  /// Writes the communicator of all ranks, each of which is known by its first thread.
  void ranks(const archive& all) {
    std::vector<std::uint64_t> first, numbers;
    for (std::size_t i = 0; i < all.processes.size(); ++i) {
      const auto thread = std::ranges::find_if(
          all.locations, [&](const location& l) { return l.kind == kind::thread && l.process == static_cast<int>(i); });
      if (all.processes[i].creator >= 0 || thread == all.locations.end()) continue;
      numbers.push_back(first.size());
      first.push_back(static_cast<std::uint64_t>(thread - all.locations.begin()));
    }
    const auto locations = static_cast<OTF2_GroupRef>(all_ranks(all) + 1), members = locations + 1;
    group(locations, "ranks", OTF2_GROUP_TYPE_COMM_LOCATIONS, first, OTF2_PARADIGM_MPI);
    group(members, "plaq", OTF2_GROUP_TYPE_COMM_GROUP, numbers, OTF2_PARADIGM_MPI);
    ok(OTF2_GlobalDefWriter_WriteComm(writer_, all_ranks(all), string("plaq"), members, OTF2_UNDEFINED_COMM,
                                      OTF2_COMM_FLAG_NONE));
  }

  void group(OTF2_GroupRef self, const std::string& name, OTF2_GroupType type,
             const std::vector<std::uint64_t>& members, OTF2_Paradigm paradigm = OTF2_PARADIGM_USER) {
    ok(OTF2_GlobalDefWriter_WriteGroup(writer_, self, string(name), type, paradigm, OTF2_GROUP_FLAG_NONE,
                                       static_cast<std::uint32_t>(members.size()), members.data()));
  }

  /// Writes one class per quantity and, after them in the same ids, one instance per counter.
  void metrics(const archive& all) {
    for (std::size_t i = 0; i < all.quantities.size(); ++i) {
      const auto self = static_cast<OTF2_MetricMemberRef>(i);
      const auto name = string(all.quantities[i].name), unit = string(all.quantities[i].unit), none = string("");
      ok(OTF2_GlobalDefWriter_WriteMetricMember(writer_, self, name, none, OTF2_METRIC_TYPE_OTHER,
                                                OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 0,
                                                unit));
      ok(OTF2_GlobalDefWriter_WriteMetricClass(writer_, self, 1, &self, OTF2_METRIC_ASYNCHRONOUS,
                                               OTF2_RECORDER_KIND_ABSTRACT));
    }
    for (std::size_t i = 0; i < all.counters.size(); ++i) {
      const auto& counter = all.counters[i];
      const auto recorder = std::ranges::find_if(
          all.locations, [&](const location& l) { return l.kind == kind::counters && l.process == counter.process; });
      check(recorder != all.locations.end(), "a process has counters but no location for them");
      const bool whole = counter.location < 0;
      ok(OTF2_GlobalDefWriter_WriteMetricInstance(
          writer_, metric_of(all, static_cast<int>(i)), static_cast<OTF2_MetricRef>(counter.quantity),
          static_cast<OTF2_LocationRef>(recorder - all.locations.begin()),
          whole ? OTF2_SCOPE_LOCATION_GROUP : OTF2_SCOPE_LOCATION,
          static_cast<std::uint64_t>(whole ? counter.process : counter.location)));
    }
  }

  OTF2_GlobalDefWriter* writer_;
  std::map<std::string, OTF2_StringRef> strings_;
};

}  // namespace

void write_definitions(OTF2_GlobalDefWriter* writer, const archive& all,
                       const std::vector<std::uint64_t>& event_counts) {
  definition_writer(writer).write(all, event_counts);
}

}  // namespace plaq::trace::otf2
