// GPUs for tests, by the driver that the process finds: NVIDIA's, or the stand-in that it is linked with.
#pragma once
#include <dlfcn.h>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "plaq/comm/device/cuda_driver.hpp"

namespace plaq::comm::test {

class gpus {
 public:
  /// nullptr where there are none.
  static const gpus* find() {
    static const std::optional<gpus> found = [] {
      gpus g;
      return g.count_ > 0 ? std::optional(g) : std::nullopt;
    }();
    return found ? &*found : nullptr;
  }

  /// A function of the driver; nullptr where it has none of this name.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  template <class... Parameters>
  void call(const char* name, Parameters... arguments) const {
    const int code = function<int(Parameters...)>(name)(arguments...);
    if (code != 0) throw std::runtime_error(std::string(name) + " returned " + std::to_string(code));
  }
  /// Whether it is the stand-in.
  bool fake() const { return function<void(const char*, int)>("fake_cuda_fail") != nullptr; }
  cuda::context on(int device) const { return contexts_[std::size_t(device % count_)]; }

 private:
  gpus() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
    if (!library_ || function<int(unsigned)>("cuInit")(0) != 0) return;
    call("cuDeviceGetCount", &count_);
    for (int i = 0; i < count_; ++i) {
      int device = 0;
      call("cuDeviceGet", &device, i);
      call("cuDevicePrimaryCtxRetain", &contexts_.emplace_back(), device);
    }
  }

  void* library_;
  int count_ = 0;
  std::vector<cuda::context> contexts_;
};

/// Values in the memory of a GPU. With an odd `kind` they come from the pool of the device, so that no context
/// owns them; kind / 2 is the device.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t size, int kind = 0) : size_(size), on_(gpus::find()->on(kind / 2)) {
    within([&] {
      if (kind % 2) {
        gpus::find()->call("cuMemAllocAsync", &memory_, bytes() + 1, cuda::stream(nullptr));
        gpus::find()->call("cuCtxSynchronize");
      } else {
        gpus::find()->call("cuMemAlloc_v2", &memory_, bytes() + 1);
      }
    });
  }
  device_array(const std::vector<T>& values, int kind = 0) : device_array(values.size(), kind) { write(values); }
  device_array(const device_array&) = delete;
  ~device_array() {
    within([&] { gpus::find()->call("cuMemFree_v2", memory_); });
  }

  void write(const std::vector<T>& values) {
    within([&] {
      gpus::find()->call("cuMemcpyHtoD_v2", memory_, static_cast<const void*>(values.data()), bytes());
      gpus::find()->call("cuCtxSynchronize");
    });
  }
  std::vector<T> read() const {
    std::vector<T> values(size_);
    within([&] { gpus::find()->call("cuMemcpyDtoH_v2", static_cast<void*>(values.data()), memory_, bytes()); });
    return values;
  }

  T* data() const { return reinterpret_cast<T*>(std::uintptr_t(memory_)); }
  std::size_t size() const { return size_; }
  std::span<T> span() const { return {data(), size_}; }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }
  template <class Body>
  void within(Body&& body) const {
    gpus::find()->call("cuCtxPushCurrent_v2", on_);
    body();
    cuda::context out = nullptr;
    gpus::find()->call("cuCtxPopCurrent_v2", &out);
  }

  std::size_t size_;
  cuda::context on_;
  cuda::address memory_ = 0;
};

}  // namespace plaq::comm::test
