// Counters of NVIDIA GPUs by NVML, which is loaded at run time if it is installed.
#pragma once
#include <memory>
#include <string>

#include "plaq/trace/counters.hpp"

namespace plaq::trace {

/// Scope in which the GPUs of this machine are a source of counters: utilisation (%), memory in use (B), power (W),
/// clock of the processors and of the memory (MHz). Without NVML or GPUs there are none.
class gpu_counters {
 public:
  explicit gpu_counters(const std::string& library = "libnvidia-ml.so.1");
  ~gpu_counters();
  int gpus() const noexcept;
  /// Description: "2 GPUs", "no GPU" or "none".
  std::string description() const;

 private:
  class nvml;
  std::unique_ptr<nvml> below_;
  std::unique_ptr<counter_source> source_;
};

}  // namespace plaq::trace
