// A CUPTI without a GPU, to be loaded in place of NVIDIA's: fake_cuda_launch and fake_cuda_copy stand for calls of
// CUDA's, whose records it delivers as the real one does. Records are as long as those of CUDA 12.9.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

namespace {

constexpr int copy_kind = 1, set_kind = 2, api_kind = 5, kernel_kind = 10, external_kind = 39;
constexpr int success = 0, max_limit_reached = 12, queue_empty = 18, unknown = 999;

std::mutex lock;
void (*request)(std::uint8_t**, std::size_t*, std::size_t*) = nullptr;
void (*complete)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) = nullptr;
bool enabled[64];
std::uint32_t last_correlation = 0;
thread_local std::vector<std::uint64_t> externals;

std::size_t length(std::int32_t kind) {
  switch (kind) {
    case copy_kind: return 96;
    case set_kind: return 96;
    case api_kind: return 40;
    case kernel_kind: return 208;
    default: return 24;
  }
}

/// Calls of CUDA's and work of the GPU are in buffers of their own.
struct buffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0, used = 0;

  void add(const std::vector<std::uint8_t>& record) {
    if (bytes && used + record.size() > size) deliver();
    if (!bytes) {
      std::size_t most = 0;
      request(&bytes, &size, &most);
      if (!bytes) return;  // dropped
    }
    std::memcpy(bytes + used, record.data(), record.size());
    used += record.size();
  }
  void deliver() {
    if (bytes) complete(nullptr, 0, bytes, size, used);
    *this = {};
  }
} calls, work;

template <class T>
void put(std::vector<std::uint8_t>& record, std::size_t at, T value) {
  std::memcpy(record.data() + at, &value, sizeof value);
}

std::vector<std::uint8_t> record_of(std::int32_t kind) {
  std::vector<std::uint8_t> record(length(kind));
  put(record, 0, kind);
  return record;
}

/// Its clock is 1000 s ahead.
std::uint64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch() + std::chrono::seconds(1000);
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(since).count());
}

std::uint32_t called() {
  const std::uint32_t correlation = ++last_correlation;
  if (enabled[api_kind] && enabled[external_kind] && !externals.empty()) {
    auto external = record_of(external_kind);
    put(external, 4, std::int32_t(3));
    put(external, 8, externals.back());
    put(external, 16, correlation);
    calls.add(external);
  }
  if (enabled[api_kind]) calls.add(record_of(api_kind));
  return correlation;
}

}  // namespace

extern "C" {

/// The function that fails, and for cuptiActivityEnable the kind.
const char* fake_cupti_fails = "";
int fake_cupti_fails_for = 0;

int cuptiGetVersion(std::uint32_t* version) { return *version = 28, success; }
int cuptiGetTimestamp(std::uint64_t* time) {
  if (std::strcmp(fake_cupti_fails, "cuptiGetTimestamp") == 0) return unknown;
  return *time = now(), success;
}
int cuptiActivityEnable(int kind) {
  if (std::strcmp(fake_cupti_fails, "cuptiActivityEnable") == 0 && kind == fake_cupti_fails_for) return unknown;
  return enabled[kind] = true, success;
}
int fake_cupti_enabled() {
  int count = 0;
  for (const bool on : enabled) count += on;
  return count;
}
int cuptiActivityDisable(int kind) { return enabled[kind] = false, success; }
int cuptiActivityRegisterCallbacks(decltype(request) on_request, decltype(complete) on_complete) {
  if (std::strcmp(fake_cupti_fails, "cuptiActivityRegisterCallbacks") == 0) return unknown;
  request = on_request;
  complete = on_complete;
  return success;
}
int cuptiActivityGetNextRecord(std::uint8_t* bytes, std::size_t valid, std::uint8_t** record) {
  std::uint8_t* next = bytes;
  if (*record) {
    std::int32_t kind = 0;
    std::memcpy(&kind, *record, sizeof kind);
    next = *record + length(kind);
  }
  if (next >= bytes + valid) return max_limit_reached;
  *record = next;
  return success;
}
/// What the GPU did comes before the calls that asked for it.
int cuptiActivityFlushAll(std::uint32_t) {
  std::lock_guard guard(lock);
  work.deliver();
  calls.deliver();
  return success;
}
int cuptiActivityPushExternalCorrelationId(int, std::uint64_t id) { return externals.push_back(id), success; }
int cuptiActivityPopExternalCorrelationId(int, std::uint64_t* last) {
  if (externals.empty()) return queue_empty;
  *last = externals.back();
  externals.pop_back();
  return success;
}

/// A kernel that takes 1 us from now on; its name has to stay. With `complete` 0 it has no times.
void fake_cuda_launch(const char* name, std::uint32_t gpu, std::uint32_t stream, int complete) {
  std::lock_guard guard(lock);
  const std::uint32_t correlation = called();
  if (!enabled[kernel_kind]) return;
  auto kernel = record_of(kernel_kind);
  if (const std::uint64_t begin = now(); complete) put(kernel, 16, begin), put(kernel, 24, begin + 1000);
  put(kernel, 40, gpu);
  put(kernel, 44, std::uint32_t(1));
  put(kernel, 48, stream);
  put(kernel, 92, correlation);
  put(kernel, 104, name);
  work.add(kernel);
}
/// A copy, from the host to the device where that is said by 1.
void fake_cuda_copy_of_kind(std::uint64_t bytes, std::uint32_t gpu, std::uint32_t stream, int copy_from_to) {
  std::lock_guard guard(lock);
  const std::uint32_t correlation = called();
  if (!enabled[copy_kind]) return;
  auto copy = record_of(copy_kind);
  put(copy, 4, std::uint8_t(copy_from_to));
  put(copy, 8, bytes);
  const std::uint64_t begin = now();
  put(copy, 16, begin);
  put(copy, 24, begin + 500);
  put(copy, 32, gpu);
  put(copy, 36, std::uint32_t(1));
  put(copy, 40, stream);
  put(copy, 44, correlation);
  work.add(copy);
}
void fake_cuda_copy(std::uint64_t bytes, std::uint32_t gpu, std::uint32_t stream) {
  fake_cuda_copy_of_kind(bytes, gpu, stream, 1);
}
/// Sets memory to a byte.
void fake_cuda_set(std::uint64_t bytes, std::uint32_t gpu, std::uint32_t stream) {
  std::lock_guard guard(lock);
  const std::uint32_t correlation = called();
  if (!enabled[set_kind]) return;
  auto set = record_of(set_kind);
  put(set, 8, bytes);
  const std::uint64_t begin = now();
  put(set, 16, begin);
  put(set, 24, begin + 250);
  put(set, 32, gpu);
  put(set, 40, stream);
  put(set, 44, correlation);
  work.add(set);
}
/// A correlation that another tool in the process has pushed.
void fake_cuda_foreign_call(std::uint64_t id) {
  std::lock_guard guard(lock);
  auto external = record_of(external_kind);
  put(external, 4, std::int32_t(1));
  put(external, 8, id);
  put(external, 16, ++last_correlation);
  calls.add(external);
}
}
