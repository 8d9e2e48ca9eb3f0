#include "plaq/trace/gpu_activity.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <new>
#include <string_view>
#include <utility>

#include "plaq/trace/buffer.hpp"
#include "plaq/trace/clock.hpp"

namespace plaq::trace {

using namespace detail::cupti;

namespace detail {
std::atomic<void (*)(std::uint64_t)> gpu_task_begins{nullptr};
std::atomic<void (*)()> gpu_task_ends{nullptr};
}  // namespace detail

namespace {

constexpr std::size_t buffer_bytes = std::size_t(1) << 20;
constexpr int kinds[] = {
    kind_concurrent_kernel, kind_memcpy, kind_memset, kind_external_correlation,
    kind_runtime,           kind_driver};  // an external correlation comes with the record of an API call

// CUPTI's callbacks and the hooks carry no data of their own.
std::mutex current_lock;
gpu_activity* current = nullptr;
std::atomic<int (*)(int, std::uint64_t)> push{nullptr};
std::atomic<int (*)(int, std::uint64_t*)> pop{nullptr};

// A caller has seen these functions in the hooks, by a relaxed load: `pop` and `push` come with that.
void task_ends() {
  std::atomic_thread_fence(std::memory_order_acquire);
  std::uint64_t last = 0;
  pop.load(std::memory_order_relaxed)(external_kind_custom0, &last);
}

void task_begins(std::uint64_t task) {
  task_ends();  // the rest of an earlier session; an error without one
  push.load(std::memory_order_relaxed)(external_kind_custom0, task);
}

void* load(const std::vector<std::string>& libraries, std::string* which = nullptr) {
  for (const int there_already : {RTLD_NOLOAD, 0})  // one that the program's CUDA brought fits its driver
    for (const std::string& name : libraries)
      if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | there_already)) {
        if (which) *which = name;
        return handle;
      }
  return nullptr;
}

template <class Function>
bool find(void* handle, Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

std::uint32_t number_of_kernel(const char* name) {
  if (!name) return detail::number_of_name("kernel");
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &failed),
                                                             std::free);
  return detail::number_of_name(readable ? readable.get() : name);
}

std::string_view name_of(copy_kind kind) {
  switch (kind) {
    case host_to_device: return "copy host to device";
    case device_to_host: return "copy device to host";
    case device_to_device: return "copy device to device";
    case host_to_host: return "copy host to host";
    case peer_to_peer: return "copy device to peer";
  }
  return "copy";
}

}  // namespace

struct gpu_activity::functions {
  int (*enable)(int kind) = nullptr;
  int (*disable)(int kind) = nullptr;
  int (*register_callbacks)(request_function, complete_function) = nullptr;
  int (*next_record)(std::uint8_t* buffer, std::size_t valid, activity** record) = nullptr;
  int (*flush_all)(std::uint32_t flag) = nullptr;
  int (*timestamp)(std::uint64_t* ns) = nullptr;
  int (*push)(int kind, std::uint64_t id) = nullptr;
  int (*pop)(int kind, std::uint64_t* last) = nullptr;

  bool find_in(void* handle) {
    return find(handle, enable, "cuptiActivityEnable") && find(handle, disable, "cuptiActivityDisable") &&
           find(handle, register_callbacks, "cuptiActivityRegisterCallbacks") &&
           find(handle, next_record, "cuptiActivityGetNextRecord") &&
           find(handle, flush_all, "cuptiActivityFlushAll") && find(handle, timestamp, "cuptiGetTimestamp") &&
           find(handle, push, "cuptiActivityPushExternalCorrelationId") &&
           find(handle, pop, "cuptiActivityPopExternalCorrelationId");
  }
};

gpu_activity::gpu_activity(const std::vector<std::string>& libraries) {
  void* handle = load(libraries);  // never closed: CUPTI has threads, and keeps the callbacks
  auto all = std::make_unique<functions>();
  if (!handle || !all->find_in(handle) || all->register_callbacks(request, complete) != success) return;
  std::uint64_t now = 0;
  bool works = all->timestamp(&now) == success;
  for (const int kind : kinds) works = works && all->enable(kind) == success;
  if (!works) {
    for (const int kind : kinds) all->disable(kind);
    return;
  }
  cupti_ = std::move(all);
  {
    std::lock_guard lock(current_lock);
    current = this;
  }
  push = cupti_->push;
  pop = cupti_->pop;
  detail::gpu_task_begins = task_begins;
  detail::gpu_task_ends = task_ends;
}

gpu_activity::~gpu_activity() {
  if (!cupti_) return;
  detail::gpu_task_begins = nullptr;
  detail::gpu_task_ends = nullptr;
  for (const int kind : kinds) cupti_->disable(kind);
  std::lock_guard lock(current_lock);
  current = nullptr;
}

void gpu_activity::request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer =
      static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));  // nullptr: CUPTI drops records and continues
  *size = *buffer ? buffer_bytes : 0;
  *most_records = 0;  // as many as there is room for
}

void gpu_activity::complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  {
    std::lock_guard lock(current_lock);
    if (current) current->read(buffer, valid);
  }
  std::free(buffer);
}

void gpu_activity::read(std::uint8_t* buffer, std::size_t valid) {
  activity* record = nullptr;
  std::lock_guard lock(lock_);
  while (valid > 0 && cupti_->next_record(buffer, valid, &record) == success) try {
      add(*record);
    } catch (const std::bad_alloc&) {
      ++found_.lost;
    }
}

void gpu_activity::add(const activity& record) {
  const auto interval = [&](const auto& r, std::uint64_t bytes, std::uint32_t name) {
    if (r.start > 0 && r.end >= r.start)  // no times: it is not complete, or the GPU had no memory to note them
      found_.intervals.push_back({r.start, r.end, bytes, name, r.device, r.context, r.stream, r.correlation});
    else
      ++found_.lost;
  };
  switch (record.kind) {
    case kind_concurrent_kernel: {
      const auto& kernel = reinterpret_cast<const kernel_activity&>(record);
      return interval(kernel, 0, number_of_kernel(kernel.name));
    }
    case kind_memcpy: {
      const auto& copy = reinterpret_cast<const memcpy_activity&>(record);
      return interval(copy, copy.bytes, detail::number_of_name(name_of(copy.copy)));
    }
    case kind_memset: {
      const auto& set = reinterpret_cast<const memset_activity&>(record);
      return interval(set, set.bytes, detail::number_of_name("set memory"));
    }
    case kind_external_correlation: {
      const auto& call = reinterpret_cast<const external_correlation_activity&>(record);
      if (call.external_kind == external_kind_custom0) found_.calls.push_back({call.external, call.correlation});
    }
  }
}

/// Returns the offset of CUPTI's times: the middle of the shortest of a few readings.
std::int64_t gpu_activity::clock_offset() const {
  std::uint64_t shortest = ~std::uint64_t(0);
  std::int64_t offset = 0;
  for (int reading = 0; reading < 5; ++reading) {
    std::uint64_t theirs = 0;
    const std::uint64_t before = detail::monotonic_ns();
    if (cupti_->timestamp(&theirs) != success) continue;
    const std::uint64_t passed = detail::monotonic_ns() - before;
    if (passed >= shortest) continue;
    shortest = passed;
    offset = static_cast<std::int64_t>(before + passed / 2 - theirs);
  }
  return offset;
}

gpu_activity::collected gpu_activity::collect(bool all) {
  if (!cupti_) return {};
  cupti_->flush_all(all ? flush_forced : 0);
  const auto offset = static_cast<std::uint64_t>(clock_offset());
  std::lock_guard lock(lock_);
  for (gpu_interval& i : found_.intervals) i.begin += offset, i.end += offset;
  return std::exchange(found_, {});
}

std::vector<std::string> gpu_activity::cupti_libraries() {
  const std::string in_toolkit = "/extras/CUPTI/lib64/libcupti.so";
  std::vector<std::string> names{"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable)) names.push_back(home + in_toolkit);
  names.push_back("/usr/local/cuda" + in_toolkit);
  return names;
}

std::string cupti_description() {
  std::string which;
  void* handle = load(gpu_activity::cupti_libraries(), &which);
  int (*version)(std::uint32_t*) = nullptr;
  std::uint32_t number = 0;
  if (!handle) return "none";
  if (!find(handle, version, "cuptiGetVersion") || version(&number) != success) return which + ", not working here";
  return which + ", API " + std::to_string(number);
}

}  // namespace plaq::trace
