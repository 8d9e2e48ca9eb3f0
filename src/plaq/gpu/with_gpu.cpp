#include <algorithm>

#include "plaq/gpu/devices.hpp"
#include "plaq/gpu/on_gpu.hpp"
#include "plaq/gpu/runtime.hpp"

namespace plaq::gpu {

device_list find_devices() {
  int count = 0;
  const runtime::code counted = runtime::count(&count);
  if (counted == runtime::no_driver) return {{}, "there is no driver for GPUs, or it is too old"};
  if (counted != runtime::success) return {{}, runtime::in_words(counted)};
  device_list found;
  for (int gpu = 0; gpu < count; ++gpu) {
    runtime::properties p;
    if (const runtime::code result = runtime::describe(&p, gpu); result != runtime::success)
      return {{}, runtime::in_words(result)};
    const std::size_t share = p.sharedMemPerMultiprocessor / teams_at_once - p.reservedSharedMemPerBlock;
    found.gpus.push_back({p.name, p.multiProcessorCount, p.totalGlobalMem, std::min(p.sharedMemPerBlockOptin, share)});
  }
  if (count == 0) found.why_none = "the driver finds no GPU";
  return found;
}

namespace on_gpu {

void* allocate(int gpu, std::size_t bytes) {
  void* memory = nullptr;
  runtime::must(runtime::choose(gpu), "choosing a device");
  const runtime::code result = runtime::allocate(&memory, bytes);
  if (result == runtime::out_of_memory)
    throw runtime_failure("GPU " + std::to_string(gpu) + " has no " + std::to_string(bytes >> 20) + " MiB left");
  runtime::must(result, "allocation");
  return memory;
}

void release(int gpu, void* memory) noexcept {
  if (runtime::choose(gpu) == runtime::success) runtime::release(memory);
}

void copy(int gpu, void* to, const void* from, std::size_t bytes) {
  runtime::must(runtime::choose(gpu), "choosing a device");
  runtime::must(runtime::copy(to, from, bytes), "a copy");
}

void clear(int gpu, void* memory, std::size_t bytes) {
  runtime::must(runtime::choose(gpu), "choosing a device");
  runtime::must(runtime::clear(memory, bytes), "setting memory");
}

std::size_t memory_left(int gpu) {
  std::size_t left = 0, all = 0;
  runtime::must(runtime::choose(gpu), "choosing a device");
  runtime::must(runtime::memory_left(&left, &all), "querying free memory");
  return left;
}

}  // namespace on_gpu
}  // namespace plaq::gpu
