#include "plaq/trace/otf2.hpp"

#include <limits>
#include <memory>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/trace/otf2_call.hpp"
#include "plaq/trace/otf2_definitions.hpp"

namespace plaq::trace::otf2 {

namespace {

OTF2_FlushType always_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

void need_place(std::int64_t at, std::size_t size, const char* otherwise) {
  check(at >= 0 && static_cast<std::size_t>(at) < size, otherwise);
}

/// Returns the rows of a table that belong to each location; the table is sorted by location.
std::vector<std::pair<std::size_t, std::size_t>> rows_of(std::span<const std::int32_t> location, std::size_t count) {
  std::vector<std::pair<std::size_t, std::size_t>> rows(count);
  for (std::size_t i = 0; i < location.size();) {
    need_place(location[i], count, "a location is out of range");
    check(i == 0 || location[i - 1] < location[i], "a table is not sorted by location");
    std::size_t end = i;
    while (end < location.size() && location[end] == location[i]) ++end;
    rows[static_cast<std::size_t>(location[i])] = {i, end};
    i = end;
  }
  return rows;
}

/// Writer of the events of one location at a time, in the order of their times.
class event_writer {
 public:
  event_writer(OTF2_Archive* file, const archive& all, const std::vector<std::uint32_t>& place_in_team)
      : file_(file), all_(all), place_in_team_(place_in_team), attributes_(made(OTF2_AttributeList_New())) {}
  ~event_writer() { OTF2_AttributeList_Delete(attributes_); }
  event_writer(const event_writer&) = delete;
  event_writer& operator=(const event_writer&) = delete;

  using rows = std::pair<std::size_t, std::size_t>;

  /// Writes the events of a location; returns their number.
  std::uint64_t write(std::size_t location, rows intervals, rows created, rows samples, rows messages) {
    writer_ = made(OTF2_Archive_GetEvtWriter(file_, location));
    team_ = team_of(all_.locations[location].process);
    on_gpu_ = all_.locations[location].kind == kind::stream;
    own_ = place_in_team_[location];
    now_ = 0;
    next_created_ = created.first;
    end_created_ = created.second;
    next_message_ = messages.first;
    end_message_ = messages.second;
    for (std::size_t i = intervals.first; i < intervals.second; ++i) enter(i);
    leave_down_to(0);
    until(std::numeric_limits<std::int64_t>::max());
    for (std::size_t i = samples.first; i < samples.second; ++i) sample(i);
    std::uint64_t count = 0;
    ok(OTF2_EvtWriter_GetNumberOfEvents(writer_, &count));
    ok(OTF2_Archive_CloseEvtWriter(file_, writer_));
    return count;
  }

 private:
  /// Checks that time does not run backwards and returns it as OTF2 counts it.
  OTF2_TimeStamp at(std::int64_t time) {
    check(time >= now_ && time <= all_.duration, "intervals do not nest, or a time is out of range");
    now_ = time;
    return static_cast<OTF2_TimeStamp>(time);
  }

  std::uint32_t creator(std::size_t i) const {
    need_place(all_.intervals.creator[i], place_in_team_.size(), "a creator is out of range");
    return place_in_team_[static_cast<std::size_t>(all_.intervals.creator[i])];
  }

  void enter(std::size_t i) {
    leave_down_to(all_.intervals.depth[i]);
    until(all_.intervals.begin[i]);
    const OTF2_TimeStamp time = at(all_.intervals.begin[i]);
    const bool has_task = all_.intervals.depth[i] == 0 && all_.intervals.task[i] != 0;
    if (is_slice(i))
      ok(OTF2_EvtWriter_ThreadTaskSwitch(writer_, nullptr, time, team_, creator(i), all_.intervals.generation[i]));
    if (has_task) {
      ok(OTF2_AttributeList_AddUint64(attributes_, task_attribute, all_.intervals.task[i]));
      ok(OTF2_AttributeList_AddUint64(attributes_, parent_attribute, all_.intervals.parent[i]));
    }
    ok(OTF2_EvtWriter_Enter(writer_, has_task ? attributes_ : nullptr, time, region(i)));
    open_.push_back(i);
  }

  void leave_down_to(std::int32_t depth) {
    while (!open_.empty() && all_.intervals.depth[open_.back()] >= depth) {
      const std::size_t i = open_.back();
      open_.pop_back();
      until(all_.intervals.end[i]);
      const OTF2_TimeStamp time = at(all_.intervals.end[i]);
      ok(OTF2_EvtWriter_Leave(writer_, nullptr, time, region(i)));
      if (!is_slice(i)) continue;
      if (all_.intervals.last[i])
        ok(OTF2_EvtWriter_ThreadTaskComplete(writer_, nullptr, time, team_, creator(i), all_.intervals.generation[i]));
      else
        ok(OTF2_EvtWriter_ThreadTaskSwitch(writer_, nullptr, time, team_, own_, 0));
    }
  }

  /// Writes the creations of tasks and the ends of messages up to a time.
  void until(std::int64_t time) {
    const creation_columns& created = all_.creations;
    const message_columns& messages = all_.messages;
    for (;;) {
      const bool creates = next_created_ < end_created_ && created.time[next_created_] <= time;
      const bool sends = next_message_ < end_message_ && messages.time[next_message_] <= time;
      if (!creates && !sends) return;
      if (creates && !(sends && messages.time[next_message_] < created.time[next_created_]))
        create(next_created_++);
      else
        message(next_message_++);
    }
  }

  void create(std::size_t i) {
    ok(OTF2_EvtWriter_ThreadTaskCreate(writer_, nullptr, at(all_.creations.time[i]), team_, own_,
                                       all_.creations.generation[i]));
  }

  void message(std::size_t i) {
    const message_columns& messages = all_.messages;
    need_place(messages.peer[i], all_.processes.size(), "the other end of a message is out of range");
    const auto write = messages.sends[i] ? OTF2_EvtWriter_MpiSend : OTF2_EvtWriter_MpiRecv;
    ok(write(writer_, nullptr, at(messages.time[i]), static_cast<std::uint32_t>(messages.peer[i]), all_ranks(all_),
             messages.number[i], messages.bytes[i]));
  }

  void sample(std::size_t i) {
    const sample_columns& samples = all_.samples;
    const OTF2_Type type = OTF2_TYPE_DOUBLE;
    OTF2_MetricValue value;
    value.floating_point = samples.value[i];
    ok(OTF2_EvtWriter_Metric(writer_, nullptr, at(samples.time[i]), metric_of(all_, samples.counter[i]), 1, &type,
                             &value));
  }

  bool is_slice(std::size_t i) const { return !on_gpu_ && all_.intervals.depth[i] == 0 && all_.intervals.task[i] != 0; }
  OTF2_RegionRef region(std::size_t i) const { return static_cast<OTF2_RegionRef>(all_.intervals.region[i]); }

  OTF2_Archive* file_;
  const archive& all_;
  const std::vector<std::uint32_t>& place_in_team_;
  OTF2_AttributeList* attributes_;
  OTF2_EvtWriter* writer_ = nullptr;
  OTF2_CommRef team_ = 0;
  bool on_gpu_ = false;
  std::uint32_t own_ = 0;
  std::int64_t now_ = 0;
  std::size_t next_created_ = 0, end_created_ = 0, next_message_ = 0, end_message_ = 0;
  std::vector<std::size_t> open_;
};

}  // namespace

void write(const std::string& folder, const archive& all) {
  const error_scope errors;
  std::unique_ptr<OTF2_Archive, decltype(&OTF2_Archive_Close)> file(
      made(OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                             OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)),
      OTF2_Archive_Close);
  const OTF2_FlushCallbacks flush{always_flush, nullptr};  // no record of a flush: it is not the run's
  ok(OTF2_Archive_SetFlushCallbacks(file.get(), &flush, nullptr));
  ok(OTF2_Archive_SetSerialCollectiveCallbacks(file.get()));
  ok(OTF2_Archive_SetCreator(file.get(), all.creator.c_str()));
  ok(OTF2_Archive_SetDescription(file.get(), all.description.c_str()));

  const std::size_t count = all.locations.size();
  std::vector<std::uint32_t> place_in_team, sizes(all.processes.size());
  for (const auto& location : all.locations) {
    need_place(location.process, sizes.size(), "a process is out of range");
    place_in_team.push_back(location.kind == kind::thread ? sizes[static_cast<std::size_t>(location.process)]++ : 0);
  }
  const std::size_t regions = all.task_names.size() + all.region_names.size();
  for (const std::int32_t region : all.intervals.region) need_place(region, regions, "a region is out of range");
  for (const std::int32_t counter : all.samples.counter)
    need_place(counter, all.counters.size(), "a counter is out of range");
  const auto intervals = rows_of(all.intervals.location, count);
  const auto created = rows_of(all.creations.location, count);
  const auto samples = rows_of(all.samples.location, count);
  const auto messages = rows_of(all.messages.location, count);
  std::vector<std::uint64_t> event_counts;
  ok(OTF2_Archive_OpenEvtFiles(file.get()));
  event_writer events(file.get(), all, place_in_team);
  for (std::size_t i = 0; i < count; ++i)
    event_counts.push_back(events.write(i, intervals[i], created[i], samples[i], messages[i]));
  ok(OTF2_Archive_CloseEvtFiles(file.get()));

  // Readers ask for a file of local definitions of every location, even where it is empty.
  ok(OTF2_Archive_OpenDefFiles(file.get()));
  for (std::size_t i = 0; i < count; ++i)
    ok(OTF2_Archive_CloseDefWriter(file.get(), made(OTF2_Archive_GetDefWriter(file.get(), i))));
  ok(OTF2_Archive_CloseDefFiles(file.get()));
  write_definitions(made(OTF2_Archive_GetGlobalDefWriter(file.get())), all, event_counts);
  ok(OTF2_Archive_Close(file.release()));
}

std::string version() { return OTF2_VERSION; }

}  // namespace plaq::trace::otf2
