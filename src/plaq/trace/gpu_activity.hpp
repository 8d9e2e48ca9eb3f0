// Operations of NVIDIA GPUs and the tasks that requested them, by CUPTI, which is loaded at run time if it is
// installed.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plaq/trace/cupti.hpp"

namespace plaq::trace {

/// Kernel, copy or memset on a stream. Fields as in the file: python/plaq/trace/rank_file.py reads them.
struct gpu_interval {
  std::uint64_t begin, end;  ///< ns of steady_clock
  std::uint64_t bytes;       ///< 0 for a kernel
  std::uint32_t name;        ///< number among the names of the recorder
  std::uint32_t gpu, context, stream;
  std::uint32_t correlation;  ///< id of the call that launched it
  std::uint32_t unused = 0;
};

/// Call of CUDA by a task.
struct gpu_call {
  std::uint64_t task;
  std::uint32_t correlation;
  std::uint32_t unused = 0;
};

/// Scope in which CUPTI collects the operations of the GPUs of this process and knows the running task of each thread.
/// The hooks push a task's id when it gets a worker and pop it when it gives the worker away (CUPTI keeps external
/// correlation ids per thread, so a task may resume on another). Without CUPTI, or if it does not work here, nothing is
/// collected. At most one at a time.
class gpu_activity {
 public:
  /// Loads the first of `libraries` that is loaded already, else the first that can be loaded; it stays loaded.
  explicit gpu_activity(const std::vector<std::string>& libraries = cupti_libraries());
  ~gpu_activity();
  gpu_activity(const gpu_activity&) = delete;

  bool running() const noexcept { return cupti_ != nullptr; }

  struct collected {
    std::vector<gpu_interval> intervals;
    std::vector<gpu_call> calls;
    std::uint64_t lost = 0;  ///< records for which there was no memory
  };
  /// Returns operations that were completed since the last call; with `all`, also from buffers that are not complete
  /// yet.
  collected collect(bool all = false);

  static std::vector<std::string> cupti_libraries();

 private:
  struct functions;
  static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  static void complete(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size, std::size_t valid);
  void read(std::uint8_t* buffer, std::size_t valid);
  void add(const detail::cupti::activity& record);
  std::int64_t clock_offset() const;

  std::unique_ptr<const functions> cupti_;
  std::mutex lock_;  ///< for found_: buffers arrive on CUPTI's own threads too
  collected found_;
};

/// Description of CUPTI: "libcupti.so.12, API 28", or "none". It may still find no driver.
std::string cupti_description();

namespace detail {
/// Function that the hooks call on the thread of a task, while CUPTI collects.
extern std::atomic<void (*)(std::uint64_t task)> gpu_task_begins;
extern std::atomic<void (*)()> gpu_task_ends;
}  // namespace detail

}  // namespace plaq::trace
