// A driver without a GPU, linked in place of NVIDIA's. Device memory lies at addresses that the processor cannot
// touch; a copy happens when it is asked for or when its end is found, and its end is found only after some
// queries. Whatever the real one forbids or would wait for ends the process: wrong contexts, memory that is not
// pinned or not there, pinned memory that is freed under a copy.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "plaq/comm/device/cuda_driver.hpp"

using namespace plaq::comm::cuda;

struct CUctx_st {
  int device;
};
struct CUstream_st {
  CUctx_st* in;
  std::deque<std::function<void()>> todo;
};
struct CUevent_st {
  CUctx_st* in;
  CUstream_st* at = nullptr;
  int queries_left = 0;
  bool reached = true;
};

namespace {

enum : int { no_memory = 2, invalid_device = 101, illegal_address = 700 };

[[noreturn]] void give_up(const char* call, const char* why) {
  std::fprintf(stderr, "%s: %s\n", call, why);
  std::abort();
}
void need(bool that, const char* call, const char* why) {
  if (!that) give_up(call, why);
}

struct allocation {
  std::size_t size;
  std::byte* bytes;  // where the processor finds them
  CUctx_st* in;      // nullptr: of a pool, which belongs to a device
  int device;
  bool managed;
};

std::mutex guard;
bool initialised = false;
CUctx_st primaries[2] = {{0}, {1}};
thread_local std::vector<CUctx_st*> current;
std::map<std::uintptr_t, allocation> device_memory_at, pinned_at;
std::mt19937 random_number(7);
std::string call_to_fail;
int fails_after = 0;
long pins = 0;

/// The error that a test has asked for.
bool fails(const char* call) {
  if (call_to_fail != call || fails_after-- > 0) return false;
  call_to_fail.clear();
  return true;
}

const allocation* find(const std::map<std::uintptr_t, allocation>& all, std::uintptr_t at) {
  auto next = all.upper_bound(at);
  if (next == all.begin()) return nullptr;
  --next;
  return at < next->first + next->second.size ? &next->second : nullptr;
}

std::byte* reach(std::uintptr_t at, std::size_t bytes, const char* call) {
  for (const auto* all : {&device_memory_at, &pinned_at})
    if (const allocation* found = find(*all, at)) {
      const std::size_t offset = at - std::prev(all->upper_bound(at))->first;
      need(offset + bytes <= found->size, call, "goes beyond its memory");
      return found->bytes + offset;
    }
  give_up(call, "memory that is neither a device's nor pinned");
}

CUctx_st* need_context(const char* call) {
  need(!current.empty() && current.back(), call, "no context is current");
  return current.back();
}

std::size_t page_ends(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

int allocate(address* made, std::size_t bytes, CUctx_st* in, int device) {
  const std::size_t size = page_ends(bytes);
  const int file = memfd_create("device", 0);
  if (file < 0 || ftruncate(file, off_t(size)) != 0) return no_memory;
  void* theirs = mmap(nullptr, size, PROT_NONE, MAP_SHARED, file, 0);
  void* ours = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (theirs == MAP_FAILED || ours == MAP_FAILED) return no_memory;
  *made = reinterpret_cast<std::uintptr_t>(theirs);
  device_memory_at[*made] = {bytes, static_cast<std::byte*>(ours), in, device, false};
  return success;
}

void run(CUstream_st& stream) {
  for (; !stream.todo.empty(); stream.todo.pop_front()) stream.todo.front()();
}

void enqueue(CUstream_st* stream, std::function<void()> what) {
  stream->todo.push_back(std::move(what));
  if (random_number() % 2) run(*stream);
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  std::lock_guard lock(guard);
  initialised = true;
  return success;
}
int cuDeviceGetCount(int* count) { return *count = 2, success; }
int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal > 1) return invalid_device;
  return *device = ordinal, success;
}
int cuDevicePrimaryCtxRetain(context* of, int device) { return *of = &primaries[device], success; }
int cuCtxPushCurrent_v2(context in) {
  std::lock_guard lock(guard);
  if (fails("cuCtxPushCurrent")) return illegal_address;
  return current.push_back(in), success;
}
int cuCtxPopCurrent_v2(context* out) {
  need_context("cuCtxPopCurrent");
  *out = current.back();
  return current.pop_back(), success;
}
int cuCtxGetCurrent(context* in) { return *in = current.empty() ? nullptr : current.back(), success; }
int cuCtxSynchronize() { return success; }

int cuPointerGetAttributes(unsigned count, attribute* which, void** values, address pointer) {
  std::lock_guard lock(guard);
  if (!initialised) return not_initialized;
  if (fails("cuPointerGetAttributes")) return illegal_address;
  const allocation* device = find(device_memory_at, pointer);
  const allocation* pinned = find(pinned_at, pointer);
  for (unsigned i = 0; i < count; ++i) switch (which[i]) {
      case attribute_context:
        *static_cast<CUctx_st**>(values[i]) = device ? device->in : pinned ? pinned->in : nullptr;
        break;
      case attribute_memory_type:
        *static_cast<unsigned*>(values[i]) = device ? unsigned(device_memory) : pinned ? unsigned(host_memory) : 0u;
        break;
      case attribute_is_managed: *static_cast<bool*>(values[i]) = device && device->managed; break;
      case attribute_device_ordinal:
        *static_cast<int*>(values[i]) = device ? device->device : pinned ? pinned->device : -2;
    }
  return success;
}

int cuMemAlloc_v2(address* made, std::size_t bytes) {
  CUctx_st* in = need_context("cuMemAlloc");
  std::lock_guard lock(guard);
  return allocate(made, bytes, in, in->device);
}
int cuMemAllocAsync(address* made, std::size_t bytes, stream) {
  CUctx_st* in = need_context("cuMemAllocAsync");
  std::lock_guard lock(guard);
  return allocate(made, bytes, nullptr, in->device);
}
int cuMemAllocManaged(address* made, std::size_t bytes, unsigned) {
  CUctx_st* in = need_context("cuMemAllocManaged");
  auto* memory = static_cast<std::byte*>(std::malloc(bytes));
  std::lock_guard lock(guard);
  *made = reinterpret_cast<std::uintptr_t>(memory);
  device_memory_at[*made] = {bytes, memory, in, in->device, true};
  return success;
}
int cuMemFree_v2(address memory) {
  std::lock_guard lock(guard);
  const auto found = device_memory_at.find(memory);
  need(found != device_memory_at.end(), "cuMemFree", "was never allocated");
  if (found->second.managed) {
    std::free(found->second.bytes);
  } else {
    munmap(reinterpret_cast<void*>(memory), page_ends(found->second.size));
    munmap(found->second.bytes, page_ends(found->second.size));
  }
  device_memory_at.erase(found);
  return success;
}
int cuMemcpyHtoD_v2(address to, const void* from, std::size_t bytes) {
  std::lock_guard lock(guard);
  if (bytes > 0) std::memcpy(reach(to, bytes, "cuMemcpyHtoD"), from, bytes);
  return success;
}
int cuMemcpyDtoH_v2(void* to, address from, std::size_t bytes) {
  std::lock_guard lock(guard);
  if (bytes > 0) std::memcpy(to, reach(from, bytes, "cuMemcpyDtoH"), bytes);
  return success;
}

int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  CUctx_st* in = need_context("cuMemHostAlloc");
  need(flags == alloc_portable, "cuMemHostAlloc", "is not for all contexts");
  std::lock_guard lock(guard);
  if (fails("cuMemHostAlloc")) return no_memory;
  ++pins;
  *memory = std::malloc(bytes);
  pinned_at[reinterpret_cast<std::uintptr_t>(*memory)] = {bytes, static_cast<std::byte*>(*memory), in, in->device,
                                                          false};
  return success;
}
int cuMemFreeHost(void* memory) {
  std::lock_guard lock(guard);
  need(pinned_at.erase(reinterpret_cast<std::uintptr_t>(memory)) == 1, "cuMemFreeHost", "was never allocated");
  std::free(memory);  // a copy that still comes finds it missing
  return success;
}

int cuStreamCreate(stream* made, unsigned flags) {
  CUctx_st* in = need_context("cuStreamCreate");
  need(flags == stream_non_blocking, "cuStreamCreate", "waits for the default stream");
  std::lock_guard lock(guard);
  if (fails("cuStreamCreate")) return illegal_address;
  return *made = new CUstream_st{in, {}}, success;
}
int cuStreamSynchronize(stream of) {
  std::lock_guard lock(guard);
  return run(*of), success;
}
int cuStreamDestroy_v2(stream which) {
  need(which->todo.empty(), "cuStreamDestroy", "has work to do");
  return delete which, success;
}
int cuEventCreate(event* made, unsigned flags) {
  CUctx_st* in = need_context("cuEventCreate");
  need(flags == event_disable_timing, "cuEventCreate", "notes the time");
  std::lock_guard lock(guard);
  if (fails("cuEventCreate")) return illegal_address;
  return *made = new CUevent_st{in}, success;
}
int cuEventDestroy_v2(event which) { return delete which, success; }
int cuEventRecord(event at, stream of) {
  std::lock_guard lock(guard);
  need(need_context("cuEventRecord") == of->in && of->in == at->in, "cuEventRecord", "another context");
  if (fails("cuEventRecord")) return illegal_address;
  at->at = of;
  at->queries_left = int(random_number() % 5);
  at->reached = false;
  enqueue(of, [at] { at->reached = true; });
  return success;
}
int cuEventQuery(event which) {
  std::lock_guard lock(guard);
  if (fails("cuEventQuery")) return run(*which->at), illegal_address;
  if (which->queries_left-- > 0) return not_ready;
  if (!which->reached) run(*which->at);
  return success;
}

int cuMemcpyAsync(address to, address from, std::size_t bytes, stream in) {
  std::lock_guard lock(guard);
  need(need_context("cuMemcpyAsync") == in->in, "cuMemcpyAsync", "another context");
  if (fails("cuMemcpyAsync")) return illegal_address;
  enqueue(in, [=] { std::memcpy(reach(to, bytes, "cuMemcpyAsync"), reach(from, bytes, "cuMemcpyAsync"), bytes); });
  return success;
}
int cuMemcpy2DAsync_v2(const copy_2d* what, stream in) {
  std::lock_guard lock(guard);
  need(need_context("cuMemcpy2DAsync") == in->in, "cuMemcpy2DAsync", "another context");
  if (fails("cuMemcpy2DAsync")) return illegal_address;
  need(what->from.pitch >= what->width && what->to.pitch >= what->width, "cuMemcpy2DAsync", "rows overlap");
  const auto first = [](const end_of_copy& end) {
    const bool far = end.type == device_memory;
    const auto at = far ? std::uintptr_t(end.device) : reinterpret_cast<std::uintptr_t>(end.host);
    need(find(far ? device_memory_at : pinned_at, at), "cuMemcpy2DAsync", "memory of another type");
    return at;
  };
  enqueue(in, [all = *what, from = first(what->from), to = first(what->to)] {
    for (std::size_t row = 0; row < all.height; ++row)
      std::memcpy(reach(to + row * all.to.pitch, all.width, "cuMemcpy2DAsync"),
                  reach(from + row * all.from.pitch, all.width, "cuMemcpy2DAsync"), all.width);
  });
  return success;
}

int cuGetErrorName(int error, const char** name) {
  if (error != no_memory && error != illegal_address && error != invalid_device) return invalid_value;
  *name = error == no_memory         ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                     : "CUDA_ERROR_INVALID_DEVICE";
  return success;
}

// For the tests alone.

/// The call of this name after `after` more of them returns an error.
void fake_cuda_fail(const char* call, int after) {
  std::lock_guard lock(guard);
  call_to_fail = call;
  fails_after = after;
}
/// Bytes that are pinned now.
std::size_t fake_cuda_pinned() {
  std::lock_guard lock(guard);
  std::size_t sum = 0;
  for (const auto& [at, what] : pinned_at) sum += what.size;
  return sum;
}
/// How often memory was pinned.
long fake_cuda_pins() {
  std::lock_guard lock(guard);
  return pins;
}
}
