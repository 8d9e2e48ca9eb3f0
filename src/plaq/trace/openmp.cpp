// Listener of OpenMP: the runtime finds it by OMP_TOOL_LIBRARIES. Parallel regions, the share of each thread in them,
// loops and the like, explicit tasks and waits become regions of the thread.
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "plaq/trace/foreign.hpp"
#include "plaq/trace/ompt.hpp"

namespace plaq::trace {

using detail::begin_foreign_region;
using detail::end_foreign_region;

namespace {

/// Names of constructs by kind and address, kept for the process.
std::string_view name_of(const char* kind, const void* address) {
  struct key {
    const char* kind;
    const void* address;
    bool operator==(const key&) const = default;
  };
  struct hash {
    std::size_t operator()(const key& k) const noexcept {
      return std::hash<const void*>()(k.kind) * 31 + std::hash<const void*>()(k.address);
    }
  };
  static std::mutex lock;
  static auto& known = *new std::unordered_map<key, std::string, hash>;
  std::lock_guard guard(lock);
  const auto [at, fresh] = known.try_emplace(key{kind, address});
  if (fresh) at->second = detail::name_of_construct(kind, address);
  return at->second;
}

/// Parallel region in progress.
struct team {
  const void* address;
  std::uint64_t region;
};
/// Task in progress: of a thread's share in a parallel region, or an explicit one.
struct task {
  bool is_explicit;
  const void* address;
  std::uint64_t region;
};

/// Loops and waits of this thread in progress: each nests in the one before.
struct open_regions {
  static constexpr int most = 64;
  std::uint64_t numbers[most];
  int depth = 0;
  void begin(std::string_view name) noexcept {
    if (depth < most) numbers[depth] = begin_foreign_region(name);
    ++depth;
  }
  void end() noexcept {
    if (depth == 0) return;
    if (--depth < most) end_foreign_region(numbers[depth]);
  }
};
thread_local open_regions open;

void at_parallel_begin(ompt::data*, const void*, ompt::data* parallel, unsigned, int, const void* address) {
  parallel->ptr = new team{address, begin_foreign_region(name_of("parallel", address))};
}
void at_parallel_end(ompt::data* parallel, ompt::data*, int, const void*) {
  auto* const ended = static_cast<team*>(parallel->ptr);
  if (!ended) return;
  end_foreign_region(ended->region);
  delete ended;
  parallel->ptr = nullptr;
}

void at_implicit_task(int endpoint, ompt::data* parallel, ompt::data* of, unsigned, unsigned, int flags) {
  if (flags & ompt::task_initial) return;
  if (endpoint == ompt::scope_begin) {
    const auto* in = parallel ? static_cast<const team*>(parallel->ptr) : nullptr;
    const void* const address = in ? in->address : nullptr;
    of->ptr = new task{false, address, begin_foreign_region(name_of("share of parallel", address))};
  } else if (auto* const ended = static_cast<task*>(of->ptr)) {
    end_foreign_region(ended->region);
    delete ended;
    of->ptr = nullptr;
  }
}

void at_task_create(ompt::data*, const void*, ompt::data* fresh, int flags, int, const void* address) {
  if (flags & ompt::task_explicit) fresh->ptr = new task{true, address, 0};
}
void at_task_schedule(ompt::data* prior, int status, ompt::data* next) {
  auto* const before = prior ? static_cast<task*>(prior->ptr) : nullptr;
  if (before && before->is_explicit) {
    end_foreign_region(before->region);
    before->region = 0;
    if (status == ompt::task_complete || status == ompt::task_cancel) {
      delete before;
      prior->ptr = nullptr;
    }
  }
  auto* const after = next ? static_cast<task*>(next->ptr) : nullptr;
  if (after && after->is_explicit) after->region = begin_foreign_region(name_of("task", after->address));
}

const char* name_of_work(int kind) {
  switch (kind) {
    case ompt::work_loop: return "loop";
    case ompt::work_sections: return "sections";
    case ompt::work_single_executor: return "single";
    case ompt::work_workshare: return "workshare";
    case ompt::work_distribute: return "distribute";
    case ompt::work_taskloop: return "taskloop";
    default: return nullptr;
  }
}
void at_work(int kind, int endpoint, ompt::data*, ompt::data*, std::uint64_t, const void* address) {
  const char* const name = name_of_work(kind);
  if (!name) return;
  if (endpoint == ompt::scope_begin) open.begin(name_of(name, address));
  if (endpoint == ompt::scope_end) open.end();
}

void at_wait(int kind, int endpoint, ompt::data*, ompt::data* of, const void*) {
  // After its share a thread waits for the next parallel region: no part of this one. Runtimes report the end of the
  // share only then.
  auto* const share = of ? static_cast<task*>(of->ptr) : nullptr;
  const bool tasks = kind == ompt::sync_taskwait || kind == ompt::sync_taskgroup;
  if (endpoint == ompt::scope_begin) {
    if (kind == ompt::sync_barrier_implicit_parallel && share && !share->is_explicit) {
      end_foreign_region(share->region);
      share->region = 0;
    }
    open.begin(tasks ? "wait for tasks" : kind == ompt::sync_reduction ? "reduction" : "wait at barrier");
  }
  if (endpoint == ompt::scope_end) open.end();
}

int initialize(ompt::lookup_function lookup, int, ompt::data*) {
  const auto set = reinterpret_cast<ompt::set_callback_function>(lookup("ompt_set_callback"));
  if (!set) return 0;
  const auto hear = [set](int number, auto callback) { set(number, reinterpret_cast<ompt::any_function>(callback)); };
  hear(ompt::callback_parallel_begin, at_parallel_begin);
  hear(ompt::callback_parallel_end, at_parallel_end);
  hear(ompt::callback_implicit_task, at_implicit_task);
  hear(ompt::callback_task_create, at_task_create);
  hear(ompt::callback_task_schedule, at_task_schedule);
  hear(ompt::callback_work, at_work);
  hear(ompt::callback_sync_region_wait, at_wait);
  return 1;
}
void finalize(ompt::data*) { detail::end_foreign_session(); }

}  // namespace
}  // namespace plaq::trace

/// Called by OpenMP's runtime at its start.
extern "C" [[gnu::visibility("default")]] plaq::trace::ompt::start_tool_result* ompt_start_tool(unsigned, const char*) {
  static plaq::trace::ompt::start_tool_result tool{plaq::trace::initialize, plaq::trace::finalize, {}};
  return plaq::trace::detail::begin_foreign_session() ? &tool : nullptr;
}
