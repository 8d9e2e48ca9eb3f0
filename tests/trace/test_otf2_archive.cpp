// Archives as OTF2's own reader finds them: every event of a small one, random ones against the intervals that
// they were made of, and columns that do not fit together.
#include <gtest/gtest.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/trace/otf2.hpp"

namespace plaq::trace::otf2 {
namespace {

/// The columns of an archive, in vectors.
struct rows {
  struct interval {
    std::int32_t location, depth, region;
    std::int64_t begin, end;
    std::uint64_t task = 0, parent = 0;
    std::int32_t creator = 0;
    std::uint32_t generation = 0;
    std::uint8_t last = 0;
  };
  struct creation {
    std::int32_t location;
    std::int64_t time;
    std::uint32_t generation;
  };
  struct sample {
    std::int32_t location, counter;
    std::int64_t time;
    double value;
  };
  std::vector<interval> intervals;
  std::vector<creation> creations;
  struct message {
    std::int32_t location;
    std::int64_t time;
    std::int32_t peer;
    std::uint32_t number;
    std::uint64_t bytes;
    std::uint8_t sends;
  };
  std::vector<sample> samples;
  std::vector<message> messages;

  void write_to(const std::string& folder, archive all) const {
    std::vector<std::int32_t> location, depth, region, creator, created_on, sampled_on, counter;
    std::vector<std::int64_t> begin, end, created, sampled;
    std::vector<std::uint64_t> task, parent;
    std::vector<std::uint32_t> generation, made;
    std::vector<std::uint8_t> last;
    std::vector<double> value;
    std::vector<std::int32_t> end_at, peer;
    std::vector<std::int64_t> end_time;
    std::vector<std::uint32_t> number;
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint8_t> sends;
    for (const auto& m : messages) {
      end_at.push_back(m.location), end_time.push_back(m.time), peer.push_back(m.peer);
      number.push_back(m.number), bytes.push_back(m.bytes), sends.push_back(m.sends);
    }
    for (const auto& i : intervals) {
      location.push_back(i.location), depth.push_back(i.depth), region.push_back(i.region);
      begin.push_back(i.begin), end.push_back(i.end), task.push_back(i.task), parent.push_back(i.parent);
      creator.push_back(i.creator), generation.push_back(i.generation), last.push_back(i.last);
    }
    for (const auto& c : creations)
      created_on.push_back(c.location), created.push_back(c.time), made.push_back(c.generation);
    for (const auto& s : samples) {
      sampled_on.push_back(s.location), counter.push_back(s.counter);
      sampled.push_back(s.time), value.push_back(s.value);
    }
    all.intervals = {location, depth, region, begin, end, task, parent, creator, generation, last};
    all.creations = {created_on, created, made};
    all.samples = {sampled_on, counter, sampled, value};
    all.messages = {end_at, end_time, peer, number, bytes, sends};
    write(folder, all);
  }
};

/// One process with two threads and a location for its counters.
archive two_threads() {
  archive all{"plaq", "a test", 100, {"node"}, {"task"}, {"part", "other"}};
  all.processes = {{"rank 0", 0}};
  all.locations = {{"worker 0", 0, kind::thread}, {"worker 1", 0, kind::thread}, {"counters", 0, kind::counters}};
  all.quantities = {{"memory", "B"}};
  all.counters = {{0, 0, -1}};
  return all;
}

/// What a reader sees: per location the events in words, in their order.
struct seen {
  std::map<std::uint64_t, std::vector<std::string>> events;
  std::map<std::uint64_t, std::uint64_t> counted;  ///< by the definitions
  std::vector<std::string> strings;
  int regions = 0, processes = 0, accelerators = 0;

  explicit seen(const std::string& folder) {
    OTF2_Reader* reader = OTF2_Reader_Open((folder + "/traces.otf2").c_str());
    EXPECT_NE(reader, nullptr);
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    read_definitions(reader);
    for (const auto& [location, count] : counted) OTF2_Reader_SelectLocation(reader, location);
    OTF2_Reader_OpenDefFiles(reader);
    OTF2_Reader_OpenEvtFiles(reader);
    for (const auto& [location, count] : counted) {
      if (OTF2_DefReader* local = OTF2_Reader_GetDefReader(reader, location)) {
        std::uint64_t read = 0;
        OTF2_Reader_ReadAllLocalDefinitions(reader, local, &read);
        OTF2_Reader_CloseDefReader(reader, local);
      }
      EXPECT_NE(OTF2_Reader_GetEvtReader(reader, location), nullptr);
    }
    if (!counted.empty()) read_events(reader);
    OTF2_Reader_Close(reader);
    for (const auto& [location, count] : counted) EXPECT_EQ(events[location].size(), count) << location;
  }

 private:
  static seen& in(void* data) { return *static_cast<seen*>(data); }
  void read_definitions(OTF2_Reader* reader) {
    OTF2_GlobalDefReaderCallbacks* calls = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
        calls, [](void* data, OTF2_LocationRef self, OTF2_StringRef, OTF2_LocationType, std::uint64_t count,
                  OTF2_LocationGroupRef) {
          in(data).counted[self] = count;
          return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(calls, [](void* data, OTF2_StringRef self, const char* text) {
      EXPECT_EQ(self, in(data).strings.size());
      in(data).strings.emplace_back(text);
      return OTF2_CALLBACK_SUCCESS;
    });
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
        calls, [](void* data, OTF2_RegionRef, OTF2_StringRef, OTF2_StringRef, OTF2_StringRef, OTF2_RegionRole,
                  OTF2_Paradigm, OTF2_RegionFlag, OTF2_StringRef, std::uint32_t, std::uint32_t) {
          ++in(data).regions;
          return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
        calls, [](void* data, OTF2_LocationGroupRef, OTF2_StringRef, OTF2_LocationGroupType type,
                  OTF2_SystemTreeNodeRef, OTF2_LocationGroupRef creator) {
          const bool gpu = type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
          EXPECT_EQ(gpu, creator != OTF2_UNDEFINED_LOCATION_GROUP);
          ++(gpu ? in(data).accelerators : in(data).processes);
          return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, calls, this);
    OTF2_GlobalDefReaderCallbacks_Delete(calls);
    std::uint64_t read = 0;
    EXPECT_EQ(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read), OTF2_SUCCESS);
  }
  void read_events(OTF2_Reader* reader) {
    OTF2_GlobalEvtReaderCallbacks* calls = OTF2_GlobalEvtReaderCallbacks_New();
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(calls, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data,
                                                             OTF2_AttributeList* with, OTF2_RegionRef region) {
      std::uint64_t task = 0, parent = 0;
      std::string words = std::to_string(time) + " enter " + std::to_string(region);
      if (OTF2_AttributeList_TestAttributeByID(with, 0) && OTF2_AttributeList_TestAttributeByID(with, 1) &&
          OTF2_AttributeList_GetUint64(with, 0, &task) == OTF2_SUCCESS &&
          OTF2_AttributeList_GetUint64(with, 1, &parent) == OTF2_SUCCESS)
        words += " task " + std::to_string(task) + " of " + std::to_string(parent);
      in(data).events[location].push_back(words);
      return OTF2_CALLBACK_SUCCESS;
    });
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(calls, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data,
                                                             OTF2_AttributeList*, OTF2_RegionRef region) {
      in(data).events[location].push_back(std::to_string(time) + " leave " + std::to_string(region));
      return OTF2_CALLBACK_SUCCESS;
    });
    OTF2_GlobalEvtReaderCallbacks_SetThreadTaskCreateCallback(
        calls, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data, OTF2_AttributeList*, OTF2_CommRef,
                  std::uint32_t thread,
                  std::uint32_t generation) { return tasks(data, location, time, " create ", thread, generation); });
    OTF2_GlobalEvtReaderCallbacks_SetThreadTaskSwitchCallback(
        calls, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data, OTF2_AttributeList*, OTF2_CommRef,
                  std::uint32_t thread,
                  std::uint32_t generation) { return tasks(data, location, time, " switch ", thread, generation); });
    OTF2_GlobalEvtReaderCallbacks_SetThreadTaskCompleteCallback(
        calls, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data, OTF2_AttributeList*, OTF2_CommRef,
                  std::uint32_t thread,
                  std::uint32_t generation) { return tasks(data, location, time, " complete ", thread, generation); });
    OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(
        calls, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data, OTF2_AttributeList*,
                  OTF2_MetricRef metric, std::uint8_t n, const OTF2_Type*, const OTF2_MetricValue* value) {
          EXPECT_EQ(n, 1);
          in(data).events[location].push_back(std::to_string(time) + " metric " + std::to_string(metric) + " " +
                                              std::to_string(value->floating_point));
          return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(
        calls, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data, OTF2_AttributeList*, std::uint32_t peer,
                  OTF2_CommRef, std::uint32_t tag,
                  std::uint64_t bytes) { return message(data, location, time, " send to ", peer, tag, bytes); });
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(
        calls, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data, OTF2_AttributeList*, std::uint32_t peer,
                  OTF2_CommRef, std::uint32_t tag,
                  std::uint64_t bytes) { return message(data, location, time, " receive from ", peer, tag, bytes); });
    OTF2_GlobalEvtReader* all = OTF2_Reader_GetGlobalEvtReader(reader);
    OTF2_Reader_RegisterGlobalEvtCallbacks(reader, all, calls, this);
    OTF2_GlobalEvtReaderCallbacks_Delete(calls);
    std::uint64_t read = 0;
    EXPECT_EQ(OTF2_Reader_ReadAllGlobalEvents(reader, all, &read), OTF2_SUCCESS);
    OTF2_Reader_CloseGlobalEvtReader(reader, all);
  }
  static OTF2_CallbackCode message(void* data, OTF2_LocationRef location, OTF2_TimeStamp time, const char* what,
                                   std::uint32_t peer, std::uint32_t tag, std::uint64_t bytes) {
    in(data).events[location].push_back(std::to_string(time) + what + std::to_string(peer) + ", number " +
                                        std::to_string(tag) + ", " + std::to_string(bytes) + " bytes");
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode tasks(void* data, OTF2_LocationRef location, OTF2_TimeStamp time, const char* what,
                                 std::uint32_t thread, std::uint32_t generation) {
    in(data).events[location].push_back(std::to_string(time) + what + std::to_string(thread) + "." +
                                        std::to_string(generation));
    return OTF2_CALLBACK_SUCCESS;
  }
};

struct Otf2Archive : testing::Test {
  void SetUp() override {
    char name[] = "/tmp/plaq_otf2_XXXXXX";
    folder = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string at(const std::string& name) const { return (folder / name).string(); }
  /// What writing it says, "" where it does not mind.
  std::string refusal(const rows& r, const archive& all) {
    try {
      r.write_to(at("archive" + std::to_string(next_++)), all);
      return "";
    } catch (const runtime_failure& e) {
      return e.what();
    }
  }
  std::filesystem::path folder;
  int next_ = 0;
};

TEST_F(Otf2Archive, HasEveryEventInItsOrder) {
  rows r;
  r.creations = {{0, 5, 1}};
  // A task that is suspended on one thread and ends on the other, with a region in it; a region of no task.
  r.intervals = {
      {0, 0, 0, 10, 20, 7, 3, 0, 1, 0}, {0, 1, 1, 12, 18}, {0, 0, 2, 30, 40}, {1, 0, 0, 50, 60, 7, 3, 0, 1, 1}};
  r.samples = {{2, 0, 0, 1.5}, {2, 0, 100, -2}};
  r.write_to(at("a"), two_threads());
  const seen found(at("a"));
  using list = std::vector<std::string>;
  EXPECT_EQ(found.events.at(0), (list{"5 create 0.1", "10 switch 0.1", "10 enter 0 task 7 of 3", "12 enter 1",
                                      "18 leave 1", "20 leave 0", "20 switch 0.0", "30 enter 2", "40 leave 2"}));
  EXPECT_EQ(found.events.at(1), (list{"50 switch 0.1", "50 enter 0 task 7 of 3", "60 leave 0", "60 complete 0.1"}));
  EXPECT_EQ(found.events.at(2), (list{"0 metric 1 1.500000", "100 metric 1 -2.000000"}));
  EXPECT_EQ(found.regions, 3);
  EXPECT_EQ(found.processes, 1);
  EXPECT_EQ(std::ranges::count(found.strings, "worker 1"), 1);
}

TEST_F(Otf2Archive, HasBothEndsOfMessagesBetweenItsOtherEvents) {
  archive all = two_threads();
  all.processes.push_back({"rank 1", 0});
  all.locations.push_back({"worker 0", 1, kind::thread});
  rows r;
  r.intervals = {{0, 0, 1, 10, 20}, {3, 0, 2, 30, 40}};
  r.messages = {
      {0, 5, 1, 1, 7, 1}, {0, 15, 1, 0, 3'000'000'000, 1}, {3, 35, 0, 0, 3'000'000'000, 0}, {3, 50, 0, 1, 7, 0}};
  r.write_to(at("a"), all);
  const seen found(at("a"));
  using list = std::vector<std::string>;
  EXPECT_EQ(found.events.at(0), (list{"5 send to 1, number 1, 7 bytes", "10 enter 1",
                                      "15 send to 1, number 0, 3000000000 bytes", "20 leave 1"}));
  EXPECT_EQ(found.events.at(3), (list{"30 enter 2", "35 receive from 0, number 0, 3000000000 bytes", "40 leave 2",
                                      "50 receive from 0, number 1, 7 bytes"}));
  r.messages[0].peer = 2;
  EXPECT_NE(refusal(r, all).find("the other end of a message is out of range"), std::string::npos);
}

TEST_F(Otf2Archive, OfNothingCanBeRead) {
  rows().write_to(at("a"), two_threads());
  EXPECT_EQ(seen(at("a")).counted, (std::map<std::uint64_t, std::uint64_t>{{0, 0}, {1, 0}, {2, 0}}));
  archive none{"plaq", "", 0, {}, {}, {}};
  rows().write_to(at("b"), none);
  EXPECT_TRUE(seen(at("b")).counted.empty());
}

TEST_F(Otf2Archive, KnowsGpusAsAcceleratorsWhoseStreamsHaveNoTaskEvents) {
  archive all = two_threads();
  all.processes.push_back({"GPU 0", 0, 0});
  all.locations.push_back({"stream 7", 1, kind::stream});
  rows r;
  r.intervals = {{3, 0, 1, 10, 20, 7, 3}};
  r.write_to(at("a"), all);
  const seen found(at("a"));
  EXPECT_EQ(found.events.at(3), (std::vector<std::string>{"10 enter 1 task 7 of 3", "20 leave 1"}));
  EXPECT_EQ(found.accelerators, 1);
  EXPECT_EQ(found.processes, 1);
}

// Trees of intervals drawn at random: whatever is entered is left, in the reverse order, and time goes forward.
TEST_F(Otf2Archive, NestsWhateverNests) {
  std::mt19937 random(3);
  for (int draw = 0; draw < 8; ++draw) {
    archive all = two_threads();
    all.duration = 10'000;
    rows r;
    using time = std::int64_t;
    const std::function<void(int, int, time, time)> fill = [&](int location, int depth, time from, time to) {
      while (from < to && r.intervals.size() < 400) {
        const time begin = from + time(random() % 300), end = begin + time(random() % 900);
        if (end > to) return;
        r.intervals.push_back({location, depth, 1 + int(random() % 2), begin, end});
        if (depth < 5) fill(location, depth + 1, begin, end);
        from = end;
      }
    };
    fill(0, 0, 0, all.duration);
    const std::size_t on_first = r.intervals.size();
    fill(1, 0, 0, all.duration);
    r.write_to(at("a" + std::to_string(draw)), all);
    const seen found(at("a" + std::to_string(draw)));
    const std::vector<std::string> none;
    for (const std::uint64_t location : {0, 1}) {
      std::vector<std::string> open;
      long last = 0;
      for (const std::string& event : found.events.contains(location) ? found.events.at(location) : none) {
        const long time = std::stol(event);
        ASSERT_GE(time, last);
        last = time;
        const std::string region = event.substr(event.rfind(' ') + 1);
        if (event.find("enter") != std::string::npos) {
          open.push_back(region);
        } else {
          ASSERT_FALSE(open.empty());
          ASSERT_EQ(open.back(), region);
          open.pop_back();
        }
      }
      EXPECT_TRUE(open.empty());
      EXPECT_EQ(found.counted.at(location), 2 * (location == 0 ? on_first : r.intervals.size() - on_first));
    }
  }
}

TEST_F(Otf2Archive, RefusesColumnsThatDoNotFitTogether) {
  struct wrong {
    std::function<void(rows&, archive&)> how;
    const char* words;
  };
  const wrong all[] = {
      {[](rows& r, archive&) { r.intervals[0].location = 3; }, "a location is out of range"},
      {[](rows& r, archive&) { r.intervals[0].location = -1; }, "a location is out of range"},
      {[](rows& r, archive&) { r.creations = {{5, 1, 1}}; }, "a location is out of range"},
      {[](rows& r, archive&) { r.samples = {{3, 0, 1, 1}}; }, "a location is out of range"},
      {[](rows& r, archive&) { std::swap(r.intervals[0], r.intervals[2]); }, "a table is not sorted by location"},
      {[](rows& r, archive&) { r.intervals[1].end = 25; }, "intervals do not nest"},
      {[](rows& r, archive&) { r.intervals[1].begin = 5; }, "intervals do not nest"},
      {[](rows& r, archive&) { r.intervals[2].begin = -1; }, "time is out of range"},
      {[](rows& r, archive&) { r.intervals[2].end = 101; }, "time is out of range"},
      {[](rows& r, archive&) { r.samples = {{2, 0, 50, 1}, {2, 0, 40, 1}}; }, "time is out of range"},
      {[](rows&, archive& a) { a.locations.pop_back(); }, "no location for them"},
      {[](rows&, archive& a) { a.locations[1].process = 1; }, "a process is out of range"},
      {[](rows&, archive& a) { a.locations[1].process = -1; }, "a process is out of range"},
      {[](rows& r, archive&) { r.intervals[0].creator = 9; }, "a creator is out of range"},
      {[](rows& r, archive&) { r.intervals[0].creator = -1; }, "a creator is out of range"},
      {[](rows& r, archive&) { r.intervals[1].region = 3; }, "a region is out of range"},
      {[](rows& r, archive&) { r.intervals[1].region = -1; }, "a region is out of range"},
      {[](rows& r, archive&) { r.samples = {{2, 1, 50, 1}}; }, "a counter is out of range"},
  };
  const auto sound = [] {
    rows r;
    r.intervals = {{0, 0, 0, 10, 20, 7, 3, 0, 1, 1}, {0, 1, 1, 12, 18}, {1, 0, 2, 30, 40}};
    return r;
  };
  EXPECT_EQ(refusal(sound(), two_threads()), "");
  for (const wrong& w : all) {
    rows r = sound();
    archive a = two_threads();
    w.how(r, a);
    const std::string said = refusal(r, a);
    EXPECT_NE(said.find(w.words), std::string::npos) << "'" << said << "' instead of '" << w.words << "'";
  }
}

TEST_F(Otf2Archive, IsNeverWrittenOverAnother) {
  rows().write_to(at("a"), two_threads());
  EXPECT_THROW(rows().write_to(at("a"), two_threads()), runtime_failure);
  EXPECT_THROW(rows().write_to(at("a/traces.otf2/archive"), two_threads()), runtime_failure) << "in a file";
  rows().write_to(at("b"), two_threads());  // an error leaves nothing behind that the next would stumble over
  EXPECT_EQ(seen(at("b")).processes, 1);
}

TEST_F(Otf2Archive, SaysWhichLibraryWroteIt) { EXPECT_EQ(version().substr(0, 2), "3."); }

}  // namespace
}  // namespace plaq::trace::otf2
