// The few declarations of OpenMP's tools interface that plaq needs: OpenMP 5.1, "OMPT", chapter 4. OpenMP's own header,
// omp-tools.h, comes with some runtimes only; a test compares the two where it is there.
#pragma once
#include <cstdint>

namespace plaq::trace::ompt {

union data {
  std::uint64_t value;
  void* ptr;
};

enum endpoint { scope_begin = 1, scope_end = 2, scope_begin_end = 3 };
enum work_kind {
  work_loop = 1,
  work_sections = 2,
  work_single_executor = 3,
  work_single_other = 4,
  work_workshare = 5,
  work_distribute = 6,
  work_taskloop = 7,
  work_scope = 8
};
enum sync_kind {
  sync_barrier = 1,
  sync_barrier_implicit = 2,
  sync_taskwait = 5,
  sync_taskgroup = 6,
  sync_reduction = 7,
  sync_barrier_implicit_parallel = 9
};
enum task_flag { task_initial = 1, task_implicit = 2, task_explicit = 4 };
enum task_status { task_complete = 1, task_cancel = 3, task_detach = 4 };

/// Numbers of the callbacks.
enum callback_number {
  callback_parallel_begin = 3,
  callback_parallel_end = 4,
  callback_task_create = 5,
  callback_task_schedule = 6,
  callback_implicit_task = 7,
  callback_sync_region_wait = 16,
  callback_work = 20
};

using any_function = void (*)();
using lookup_function = any_function (*)(const char* name);
using set_callback_function = int (*)(int number, any_function callback);
constexpr int set_always = 5;  ///< answer of set_callback: it is called at every event

struct start_tool_result {
  int (*initialize)(lookup_function lookup, int device, data* tool);
  void (*finalize)(data* tool);
  data tool;
};

}  // namespace plaq::trace::ompt
