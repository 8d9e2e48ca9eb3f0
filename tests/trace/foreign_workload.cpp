// Runtime in place of OpenMP's, and Kokkos: loads the listener and reports events in their order. See test_foreign.py.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string_view>
#include <thread>

#include "plaq/trace/ompt.hpp"
#ifdef HAVE_OMP_TOOLS
#include <omp-tools.h>
#endif

namespace {

namespace ompt = plaq::trace::ompt;

#ifdef HAVE_OMP_TOOLS
static_assert(sizeof(ompt::data) == sizeof(ompt_data_t));
static_assert(sizeof(ompt::start_tool_result) == sizeof(ompt_start_tool_result_t));
static_assert(int(ompt::scope_begin) == ompt_scope_begin && int(ompt::scope_end) == ompt_scope_end);
static_assert(int(ompt::work_loop) == ompt_work_loop && int(ompt::work_sections) == ompt_work_sections &&
              int(ompt::work_single_executor) == ompt_work_single_executor &&
              int(ompt::work_workshare) == ompt_work_workshare && int(ompt::work_distribute) == ompt_work_distribute &&
              int(ompt::work_taskloop) == ompt_work_taskloop);
static_assert(int(ompt::sync_taskwait) == ompt_sync_region_taskwait &&
              int(ompt::sync_taskgroup) == ompt_sync_region_taskgroup &&
              int(ompt::sync_reduction) == ompt_sync_region_reduction);
static_assert(int(ompt::task_initial) == ompt_task_initial && int(ompt::task_explicit) == ompt_task_explicit);
static_assert(int(ompt::task_complete) == ompt_task_complete && int(ompt::task_cancel) == ompt_task_cancel);
static_assert(int(ompt::callback_parallel_begin) == ompt_callback_parallel_begin &&
              int(ompt::callback_parallel_end) == ompt_callback_parallel_end &&
              int(ompt::callback_task_create) == ompt_callback_task_create &&
              int(ompt::callback_task_schedule) == ompt_callback_task_schedule &&
              int(ompt::callback_implicit_task) == ompt_callback_implicit_task &&
              int(ompt::callback_sync_region_wait) == ompt_callback_sync_region_wait &&
              int(ompt::callback_work) == ompt_callback_work);
#endif

void* library;
template <class F>
F* function(const char* name) {
  return reinterpret_cast<F*>(::dlsym(library, name));
}

std::map<int, ompt::any_function> callbacks;
int set_callback(int number, ompt::any_function callback) {
  callbacks[number] = callback;
  return ompt::set_always;
}
ompt::any_function look_up(const char* name) {
  return std::string_view(name) == "ompt_set_callback" ? reinterpret_cast<ompt::any_function>(set_callback) : nullptr;
}
template <class... Arguments>
void report(ompt::callback_number number, Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(callbacks.at(number))(arguments...);
}

void thread_of_team(ompt::data* team, unsigned index, const void* here) {
  ompt::data share{}, task{};
  report(ompt::callback_implicit_task, int(ompt::scope_begin), team, &share, 2u, index, int(ompt::task_implicit));
  for (int end : {ompt::scope_begin, ompt::scope_end})
    report(ompt::callback_work, int(ompt::work_loop), end, team, &share, std::uint64_t(8), here);
  report(ompt::callback_task_create, &share, (const void*)nullptr, &task, int(ompt::task_explicit), 0, here);
  report(ompt::callback_task_schedule, &share, 7, &task);  // 7: another task takes its place
  report(ompt::callback_task_schedule, &task, int(ompt::task_complete), &share);
  for (int end : {ompt::scope_begin, ompt::scope_end})
    report(ompt::callback_sync_region_wait, int(ompt::sync_barrier_implicit_parallel), end, team, &share, here);
  report(ompt::callback_implicit_task, int(ompt::scope_end), (ompt::data*)nullptr, &share, 2u, index,
         int(ompt::task_implicit));
}

int openmp() {
  auto* const start = function<ompt::start_tool_result*(unsigned, const char*)>("ompt_start_tool");
  ompt::start_tool_result* const tool = start(201811, "stand-in");
  if (!tool) return 1;
  if (!tool->initialize(look_up, 0, &tool->tool)) return 2;
  const auto* const here = reinterpret_cast<const void*>(&openmp);
  for (int round = 0; round < 3; ++round) {
    ompt::data team{}, around{};
    report(ompt::callback_parallel_begin, &around, (const void*)nullptr, &team, 2u, 0, here);
    std::thread other(thread_of_team, &team, 1u, here);
    thread_of_team(&team, 0, here);
    other.join();
    report(ompt::callback_parallel_end, &team, &around, 0, here);
  }
  tool->finalize(&tool->tool);
  return 0;
}

struct space {
  char name[64];
};

int kokkos() {
  using begins = void(const char*, std::uint32_t, std::uint64_t*);
  using ends = void(std::uint64_t);
  function<void(int, std::uint64_t, std::uint32_t, void*)>("kokkosp_init_library")(0, 20211015, 0, nullptr);
  function<void(const char*)>("kokkosp_push_profile_region")("time step");
  std::uint64_t id = 0;
  for (const char* kind : {"for", "reduce", "scan"}) {
    const std::string begin = std::string("kokkosp_begin_parallel_") + kind,
                      end = std::string("kokkosp_end_parallel_") + kind;
    function<begins>(begin.c_str())(kind, 1, &id);
    function<ends>(end.c_str())(id);
  }
  function<begins>("kokkosp_begin_fence")("all kernels", 1, &id);
  function<ends>("kokkosp_end_fence")(id);
  space host{}, device{};
  std::strcpy(host.name, "Host");
  std::strcpy(device.name, "Cuda");
  function<void(space, const char*, const void*, space, const char*, const void*, std::uint64_t)>(
      "kokkosp_begin_deep_copy")(device, "u", nullptr, host, "v", nullptr, 100);
  function<void()>("kokkosp_end_deep_copy")();
  function<void()>("kokkosp_pop_profile_region")();
  function<void()>("kokkosp_finalize_library")();
  return 0;
}

}  // namespace

int main(int, char** words) {
  library = ::dlopen(LISTENER, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::puts(::dlerror());
    return 1;
  }
  return std::string_view(words[1]) == "openmp" ? openmp() : kokkos();
}
