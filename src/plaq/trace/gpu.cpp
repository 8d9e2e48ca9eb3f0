#include "plaq/trace/gpu.hpp"

#include <dlfcn.h>

#include <vector>

namespace plaq::trace {

namespace {

// Part of nvml.h that is used; plaq builds without it.
using device = struct nvml_device*;
struct utilisation {
  unsigned processors, memory;  ///< % of the last period of the driver
};
struct memory_info {
  unsigned long long total, free, used;
};
enum clock_type : int { clock_graphics = 0, clock_memory = 2 };
constexpr int success = 0;

}  // namespace

class gpu_counters::nvml {
 public:
  explicit nvml(const std::string& library) : handle_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) return;
    int (*init)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*by_index)(unsigned, device*) = nullptr;
    if (!find(init, "nvmlInit_v2") || !find(shutdown_, "nvmlShutdown") || !find(count, "nvmlDeviceGetCount_v2") ||
        !find(by_index, "nvmlDeviceGetHandleByIndex_v2") || init() != success)
      return;
    running_ = true;
    find(utilisation_, "nvmlDeviceGetUtilizationRates");
    find(memory_, "nvmlDeviceGetMemoryInfo");
    find(power_, "nvmlDeviceGetPowerUsage");
    find(clock_, "nvmlDeviceGetClockInfo");
    unsigned n = 0;
    if (count(&n) != success) return;
    for (unsigned i = 0; i < n; ++i)
      if (device d = nullptr; by_index(i, &d) == success) gpus_.push_back(d);
  }

  ~nvml() {
    if (running_) shutdown_();
    if (handle_) ::dlclose(handle_);
  }

  bool running() const noexcept { return running_; }
  int gpus() const noexcept { return static_cast<int>(gpus_.size()); }

  void read(std::vector<sample>& out) const {
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const std::string gpu = "GPU " + std::to_string(i) + " ";
      const auto add = [&](const char* quantity, const char* unit, double value) {
        out.push_back({gpu + quantity, unit, -1, -1, value});
      };
      if (utilisation u{}; utilisation_ && utilisation_(gpus_[i], &u) == success) {
        add("utilisation", "%", u.processors);
        add("memory utilisation", "%", u.memory);
      }
      if (memory_info m{}; memory_ && memory_(gpus_[i], &m) == success) add("memory", "B", double(m.used));
      if (unsigned mw = 0; power_ && power_(gpus_[i], &mw) == success) add("power", "W", 1e-3 * mw);
      if (unsigned mhz = 0; clock_ && clock_(gpus_[i], clock_graphics, &mhz) == success) add("clock", "MHz", mhz);
      if (unsigned mhz = 0; clock_ && clock_(gpus_[i], clock_memory, &mhz) == success) add("memory clock", "MHz", mhz);
    }
  }

 private:
  template <class Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(handle_, name));
    return function != nullptr;
  }

  void* handle_;
  bool running_ = false;
  int (*shutdown_)() = nullptr;
  int (*utilisation_)(device, utilisation*) = nullptr;
  int (*memory_)(device, memory_info*) = nullptr;
  int (*power_)(device, unsigned*) = nullptr;
  int (*clock_)(device, int, unsigned*) = nullptr;
  std::vector<device> gpus_;
};

gpu_counters::gpu_counters(const std::string& library) : below_(std::make_unique<nvml>(library)) {
  if (below_->gpus() > 0)
    source_ = std::make_unique<counter_source>([this](std::vector<sample>& out) { below_->read(out); });
}
gpu_counters::~gpu_counters() = default;
int gpu_counters::gpus() const noexcept { return below_->gpus(); }
std::string gpu_counters::description() const {
  if (!below_->running()) return "none";
  return gpus() == 0 ? "no GPU" : std::to_string(gpus()) + (gpus() == 1 ? " GPU" : " GPUs");
}

}  // namespace plaq::trace
