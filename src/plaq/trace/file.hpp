// The file of one rank: a head of 512 bytes, then blocks that are only ever added.
#pragma once
#include <sys/uio.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace plaq::trace::detail {

/// What a block holds. The numbers are those of the file; python/plaq/trace/rank_file.py reads them.
enum class block : std::uint32_t {
  process = 1,    ///< JSON: who and where
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

/// The head has lines, then zeros: "plaq trace 2"; the state, which is "open", "closed", or "cut: why"; the length
/// of the file when that was said (0 while it is open); the CRC-32 of these lines. It is overwritten in place, so
/// that it can be said even where the disk is full. A block: u32 CRC-32 of the rest of its head; u32 kind, u64
/// bytes, u64 thread, u64 events lost so far in that thread, u32 number (the file's blocks count from 0), u32
/// CRC-32 of what follows; then its bytes, padded to 8 with zeros.
class file {
 public:
  /// Throws input_error where the file exists, runtime_failure where it cannot be made.
  explicit file(const std::filesystem::path& path);
  ~file();
  file(const file&) = delete;

  /// False once a write failed; then the file ends with the last block that was written whole.
  bool add(block kind, std::vector<iovec> pieces, std::uint64_t thread = 0, std::uint64_t lost = 0) noexcept;
  bool add(block kind, std::string_view text, std::uint64_t thread = 0) noexcept;
  template <class T>
  bool add_values(block kind, const std::vector<T>& values) noexcept {
    return add(kind, {{const_cast<T*>(values.data()), values.size() * sizeof(T)}});
  }

  void set_state(const std::string& state) noexcept;
  /// Why it ends early; empty while nothing went wrong.
  const std::string& problem() const noexcept { return problem_; }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
  std::uint32_t blocks_ = 0;
  std::string problem_;
};

}  // namespace plaq::trace::detail
