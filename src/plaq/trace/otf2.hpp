// Writer of OTF2 archives, by the OTF2 library.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plaq::trace::otf2 {

/// Rank, on the host at this position of `archive::hosts`, or a GPU that was used by the process `creator`.
struct process {
  std::string name;
  int host;
  int creator = -1;
};

enum class kind { thread, stream, counters };

/// Worker or another thread of a process, a stream of a GPU, or a location that only carries samples.
struct location {
  std::string name;
  int process;
  otf2::kind kind;
};

struct quantity {
  std::string name, unit;
};

/// Quantity of a location, or of a process (then `location` is -1), that has samples.
struct counter {
  int quantity, process, location;
};

// Events as columns. Times are ns since the start; `location` and `region` are positions in the lists of
// the archive. Tasks are named as OTF2 does: by the location that created them and a number that counts its tasks
// from 1.

template <class T>
using column = std::span<const T>;

/// Intervals, sorted by location; on each, an interval that is not deeper ends those before it. A slice of a task has
/// depth 0 and an id (not 0); `last` marks the last slice of the task.
struct interval_columns {
  column<std::int32_t> location, depth, region;
  column<std::int64_t> begin, end;
  column<std::uint64_t> task, parent;
  column<std::int32_t> creator;
  column<std::uint32_t> generation;
  column<std::uint8_t> last;
};

/// Tasks that a location created, sorted by location and time.
struct creation_columns {
  column<std::int32_t> location;
  column<std::int64_t> time;
  column<std::uint32_t> generation;
};

/// Samples of a counter, sorted by the location that records them and time.
struct sample_columns {
  column<std::int32_t> location, counter;
  column<std::int64_t> time;
  column<double> value;
};

/// Ends of messages between processes, sorted by location and time: the process of the other end, and the number of the
/// message, which both ends have.
struct message_columns {
  column<std::int32_t> location;
  column<std::int64_t> time;
  column<std::int32_t> peer;
  column<std::uint32_t> number;
  column<std::uint64_t> bytes;
  column<std::uint8_t> sends;
};

/// Archive: definitions and events. Regions are counted through the names of tasks, then those of regions.
struct archive {
  std::string creator, description;
  std::int64_t duration;  // ns
  std::vector<std::string> hosts, task_names, region_names;
  std::vector<process> processes{};
  std::vector<location> locations{};
  std::vector<quantity> quantities{};
  std::vector<counter> counters{};
  interval_columns intervals{};
  creation_columns creations{};
  sample_columns samples{};
  message_columns messages{};
};

/// Writes `folder`/traces.otf2 and the files beside it. Throws runtime_failure with OTF2's message if something cannot
/// be written or columns do not fit together.
///
/// Each location gets Enter and Leave for its intervals, with the attributes "task" and "parent" at slices and at
/// operations of a stream for a task. Threads get ThreadTaskCreate, -Switch and -Complete in the team of their process;
/// when a task is suspended the location switches to its own task, number 0. Samples are asynchronous metrics. Messages
/// are MpiSend and MpiRecv in a communicator of all processes but GPUs, with their numbers as tags.
///
/// @pre the folder does not exist
void write(const std::string& folder, const archive& archive);

/// Version of the OTF2 library, as "3.0.2".
std::string version();

}  // namespace plaq::trace::otf2
