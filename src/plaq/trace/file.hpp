// File of one rank: a head of 512 bytes, then blocks that are only appended.
#pragma once
#include <sys/uio.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace plaq::trace::detail {

/// Kinds of blocks. The numbers are those of the file; python/plaq/trace/rank_file.py reads them.
enum class block : std::uint32_t {
  process = 1,    ///< JSON: process and host
  names = 2,      ///< texts, the next numbers each
  thread = 3,     ///< a thread's number is the block's; JSON: kernel id and name
  events = 4,     ///< records of one thread
  clocks = 5,     ///< clock_pair: all events until then stand before it in the file
  series = 6,     ///< JSON: name, unit, worker and kernel thread of the next counter
  samples = 7,    ///< u64 ticks, then (u64 counter, f64 value) each
  offset = 8,     ///< f64: seconds to add to steady_clock, their error, steady_clock when it was measured
  gpu = 9,        ///< gpu_interval
  gpu_calls = 10  ///< gpu_call
};

/// Trace file. The head has lines, then zeros: "plaq trace 2"; the state, which is "open", "closed", or "cut: why"; the
/// length of the file when the state was written (0 while it is open); the CRC-32 of these lines. It is overwritten in
/// place, which works even on a full disk. A block: u32 CRC-32 of the rest of its head; u32 kind, u64 bytes, u64
/// thread, u64 events lost so far in that thread, u32 number (the file's blocks count from 0), u32 CRC-32 of the
/// content; then the content, padded to 8 bytes with zeros.
class file {
 public:
  /// Makes the file; runtime_failure if that fails.
  ///
  /// @pre the file does not exist, else input_error
  explicit file(const std::filesystem::path& path);
  ~file();
  file(const file&) = delete;

  /// Appends a block; returns false once a write failed. The file then ends with the last complete block.
  bool add(block kind, std::vector<iovec> pieces, std::uint64_t thread = 0, std::uint64_t lost = 0) noexcept;
  bool add(block kind, std::string_view text, std::uint64_t thread = 0) noexcept;
  template <class T>
  bool add_values(block kind, const std::vector<T>& values) noexcept {
    return add(kind, {{const_cast<T*>(values.data()), values.size() * sizeof(T)}});
  }

  void set_state(const std::string& state) noexcept;
  /// Reason for an early end of the file; empty if there was no error.
  const std::string& problem() const noexcept { return problem_; }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
  std::uint32_t blocks_ = 0;
  std::string problem_;
};

}  // namespace plaq::trace::detail
