#include "plaq/comm/device/cuda_driver.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "plaq/base/error.hpp"

namespace plaq::comm::cuda {

namespace {

template <class Function>
bool find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

std::optional<driver> load() {
  void* library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);  // the program's, if it has it already
  driver d{};
  // A driver that lacks one of these is older than CUDA 7's.
  if (library && find(library, d.pointer_attributes, "cuPointerGetAttributes") &&
      find(library, d.device, "cuDeviceGet") && find(library, d.retain_primary, "cuDevicePrimaryCtxRetain") &&
      find(library, d.push, "cuCtxPushCurrent_v2") && find(library, d.pop, "cuCtxPopCurrent_v2") &&
      find(library, d.pin, "cuMemHostAlloc") && find(library, d.unpin, "cuMemFreeHost") &&
      find(library, d.make_stream, "cuStreamCreate") && find(library, d.wait_for_stream, "cuStreamSynchronize") &&
      find(library, d.end_stream, "cuStreamDestroy_v2") && find(library, d.make_event, "cuEventCreate") &&
      find(library, d.record, "cuEventRecord") && find(library, d.query, "cuEventQuery") &&
      find(library, d.end_event, "cuEventDestroy_v2") && find(library, d.copy, "cuMemcpyAsync") &&
      find(library, d.copy_rows, "cuMemcpy2DAsync_v2") && find(library, d.name_of, "cuGetErrorName"))
    return d;
  return std::nullopt;
}

/// Returns the context of memory that belongs to a device and no context, as that of a pool: the primary one, which
/// CUDA's runtime uses.
context primary_context(int ordinal) {
  static std::mutex guard;
  static std::map<int, context> retained;  // until the process ends
  std::lock_guard lock(guard);
  context& primary = retained[ordinal];
  if (primary) return primary;
  int device = 0;
  must(find_driver()->device(&device, ordinal), "cuDeviceGet");
  must(find_driver()->retain_primary(&primary, device), "cuDevicePrimaryCtxRetain");
  return primary;
}

}  // namespace

const driver* find_driver() {
  static const std::optional<driver> found = load();
  return found ? &*found : nullptr;
}

void must(int code, const char* call) {
  if (code == success) [[likely]]
    return;
  const char* name = nullptr;
  if (find_driver()->name_of(code, &name) != success || !name) name = "an error that the driver does not know";
  throw runtime_failure(std::string(call) + " failed: " + name + " (" + std::to_string(code) + ")");
}

in_context::in_context(context which) { must(find_driver()->push(which), "cuCtxPushCurrent"); }

in_context::~in_context() {
  context out = nullptr;
  find_driver()->pop(&out);  // there is one, pushed above
}

context context_of(const void* memory) {
  const driver* cuda = find_driver();
  if (!cuda || !memory) return nullptr;
  context owner = nullptr;
  unsigned type = 0, managed = 0;
  int ordinal = -1;
  attribute which[] = {attribute_memory_type, attribute_is_managed, attribute_context, attribute_device_ordinal};
  void* values[] = {&type, &managed, &owner, &ordinal};
  const int code = cuda->pointer_attributes(4, which, values, reinterpret_cast<std::uintptr_t>(memory));
  // The driver is not initialised, or does not know this memory: it is not device memory.
  if (code == not_initialized || code == deinitialized || code == invalid_context || code == invalid_value)
    return nullptr;
  must(code, "cuPointerGetAttributes");
  if (type != device_memory || (managed & 0xff)) return nullptr;  // the driver writes a bool
  return owner ? owner : primary_context(ordinal);
}

}  // namespace plaq::comm::cuda
