// A recording: everything that happens while it lives goes into a file.
#pragma once
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace plaq::trace {

struct session_options {
  std::filesystem::path folder;                   ///< made where it is missing
  int rank = 0;                                   ///< the file is folder/rank-0000.plaqtrace
  std::chrono::milliseconds period{100};          ///< between two samples of the counters and two writes
  std::size_t ring_bytes = std::size_t(4) << 20;  ///< of events that wait to be written, per thread
  std::map<std::string, std::string> notes{};     ///< go into the file: command line, version, ...
};

/// Records tasks, regions and counters of this process from its first to its last line. One thread of its own
/// writes what the others put into their rings, and samples the counters. Events that find their ring full are
/// counted, not kept. After a failed write (disk full) the program goes on and the file says where it ends; after
/// a kill it holds what was written until then, up to one period ago.
///
/// Throws input_error where another session records or the file exists, runtime_failure where it cannot be made.
class session {
 public:
  explicit session(const session_options& options);
  /// close()
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Writes what is left and ends the file. In a process that was forked off it does nothing.
  void close() noexcept;

  /// How far this process's steady_clock is behind rank 0's, with its error, both in seconds.
  void set_clock_offset(double seconds, double error);

  const std::filesystem::path& path() const noexcept;
  /// Why the file ends early (a disk that was full); empty while nothing went wrong.
  std::string problem() const;

 private:
  class implementation;
  std::unique_ptr<implementation> work_;
};

}  // namespace plaq::trace
