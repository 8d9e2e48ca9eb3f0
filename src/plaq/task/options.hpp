// Options of a pool.
#pragma once
#include <cstddef>
#include <vector>

namespace plaq::task {

/// Binding of workers, round robin if there are more workers than cores or hardware threads.
enum class binding {
  automatic,  ///< cores, where there is a worker for each core of `cpus` and the kernel lets them be bound; otherwise
              ///< none: others may need the rest
  cores,      ///< each to a physical core, with all of its hardware threads in `cpus`
  threads,    ///< each to a hardware thread, in the order of `cpus`
  none,       ///< not bound
};

/// Options of a pool; the default is one bound worker for each core that the process may use.
struct options {
  int workers = 0;                      ///< tasks that run at the same time; 0: one per core (or thread) of `cpus`
  std::size_t stack_size = 256 * 1024;  ///< bytes of stack per task, without the guard below it (fiber and hpx)
  binding bind = binding::automatic;    ///< binding of workers
  std::vector<int> cpus{};              ///< hardware threads to use; empty: those that the process may use
};

}  // namespace plaq::task
