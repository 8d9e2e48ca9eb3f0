// What NVIDIA GPUs did and which task asked for it, by CUPTI, which is loaded at run time where it is installed.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plaq/trace/cupti.hpp"

namespace plaq::trace {

/// A kernel, a copy or a memset on a stream. Fields as in the file: python/plaq/trace/rank_file.py reads them.
struct gpu_interval {
  std::uint64_t begin, end;  ///< ns of steady_clock
  std::uint64_t bytes;       ///< 0 for a kernel
  std::uint32_t name;        ///< its number among the names of the recorder
  std::uint32_t gpu, context, stream;
  std::uint32_t correlation;  ///< of the call that launched it
  std::uint32_t unused = 0;
};

/// A call of CUDA's by a task.
struct gpu_call {
  std::uint64_t task;
  std::uint32_t correlation;
  std::uint32_t unused = 0;
};

/// While it lives, CUPTI collects what runs on the GPUs of this process and knows the running task of each thread:
/// the hooks push a task's id when it gets a worker and pop it when it gives the worker away (CUPTI keeps external
/// correlation ids per thread, so a task may go on elsewhere). Where there is no CUPTI, or it does not work here,
/// nothing is found. At most one at a time.
class gpu_activity {
 public:
  /// Of `libraries`, the first that is loaded already, else the first that can be; it stays loaded.
  explicit gpu_activity(const std::vector<std::string>& libraries = cupti_libraries());
  ~gpu_activity();
  gpu_activity(const gpu_activity&) = delete;

  bool running() const noexcept { return cupti_ != nullptr; }

  struct found {
    std::vector<gpu_interval> intervals;
    std::vector<gpu_call> calls;
    std::uint64_t lost = 0;  ///< records for which there was no memory
  };
  /// What was completed since the last call; with `all`, also from buffers in which something is not yet complete.
  found collect(bool all = false);

  static std::vector<std::string> cupti_libraries();

 private:
  struct functions;
  static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  static void complete(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size, std::size_t valid);
  void read(std::uint8_t* buffer, std::size_t valid);
  void add(const detail::cupti::activity& record);
  std::int64_t clock_offset() const;

  std::unique_ptr<const functions> cupti_;
  std::mutex lock_;  ///< of found_: buffers come on CUPTI's own threads too
  found found_;
};

/// What of CUPTI is there, in words: "libcupti.so.12, API 28", or "none". It may still find no driver.
std::string cupti_description();

namespace detail {
/// What the hooks call on the thread of a task, while CUPTI collects.
extern std::atomic<void (*)(std::uint64_t task)> gpu_task_begins;
extern std::atomic<void (*)()> gpu_task_ends;
}  // namespace detail

}  // namespace plaq::trace
