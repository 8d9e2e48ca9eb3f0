// What test_gpu_trace.py traces: tasks that launch kernels and copies on a GPU that is not there (fake_cupti.cpp).
// Each suspends between its kernel, which has the task's id for a name, and its copy, whose bytes are that id.
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "plaq/task/backends.hpp"
#include "plaq/task/this_task.hpp"
#include "plaq/trace/label.hpp"
#include "plaq/trace/session.hpp"

int main(int, char** arguments) {
  using namespace plaq;
  const std::string folder = arguments[1], backend = arguments[2], library = arguments[3];
  void* cuda = dlopen(library.c_str(), RTLD_NOW);
  const auto launch =
      reinterpret_cast<void (*)(const char*, std::uint32_t, std::uint32_t, int)>(dlsym(cuda, "fake_cuda_launch"));
  const auto copy =
      reinterpret_cast<void (*)(std::uint64_t, std::uint32_t, std::uint32_t)>(dlsym(cuda, "fake_cuda_copy"));
  trace::session session({.folder = folder, .period = std::chrono::milliseconds(20)});
  task::with_backend(backend, {.workers = 3}, [&](auto& pool) {
    std::vector<typename std::remove_reference_t<decltype(pool)>::backend::template future<void>> all;
    for (std::uint32_t i = 0; i < 60; ++i)
      all.push_back(pool.async("launches", [&, i] {
        const auto me = task::this_task::id();
        launch(trace::label(std::to_string(me)).view().data(), 0, i % 2, 1);
        task::this_task::sleep_for(std::chrono::milliseconds(1 + i % 3));
        copy(me, 1, 7);
      }));
    for (auto& f : all) f.get();
  });
  launch("main thread", 0, 0, 1);
}
