// Session: a recording of all events of its lifetime into a file.
#pragma once
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace plaq::trace {

/// Options of a session: the file, and how often it is written.
struct session_options {
  std::filesystem::path folder;                   ///< made where it is missing
  int rank = 0;                                   ///< the file is folder/rank-0000.plaqtrace
  std::chrono::milliseconds period{100};          ///< between two samples of the counters and two writes
  std::size_t ring_bytes = std::size_t(4) << 20;  ///< bytes of waiting events, per thread
  std::map<std::string, std::string> notes{};     ///< go into the file: command line, version, ...
  /// Counters of each thread, read at the ends of regions and slices: at most four of "instructions", "cycles",
  /// "cache misses" (of the last level), "branch misses", "processor time" (in ns) and "page faults", all in user mode.
  std::vector<std::string> counters{};
};

/// Recording of tasks, regions and counters of this process during its lifetime. One thread of its own writes the rings
/// of the others, and samples the counters. Events that find their ring full are counted, not kept. After a failed
/// write (disk full) the program continues and the file records its end; after a kill it holds the events up to one
/// period ago.
///
/// @pre no other session records, the file does not exist, and the kernel permits the counters, else input_error;
/// runtime_failure if the file cannot be made
class session {
 public:
  explicit session(const session_options& options);
  /// Closes the session.
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Writes the remaining events and ends the file. In a process that was forked off it does nothing.
  void close() noexcept;

  /// Sets the lag of this process's steady_clock behind rank 0's, with its error, both in seconds.
  void set_clock_offset(double seconds, double error);

  const std::filesystem::path& path() const noexcept;
  /// Reason for an early end of the file (a full disk); empty if there was no error.
  std::string problem() const;

 private:
  class implementation;
  std::unique_ptr<implementation> work_;
};

}  // namespace plaq::trace
