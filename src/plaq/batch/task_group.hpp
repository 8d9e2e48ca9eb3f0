// Tasks of one run.
#pragma once
#include <exception>
#include <utility>
#include <vector>

#include "plaq/batch/control.hpp"
#include "plaq/trace/label.hpp"

namespace plaq::batch {

/// Tasks of a run: if one fails, the others stop at the end of their step and keep their state.
template <class Pool>
class task_group {
 public:
  task_group(Pool& pool, control& c) : pool_(pool), control_(c) {}

  /// Begins work() as a task. Objects that it refers to have to outlive the pool.
  template <class F>
  void begin(trace::label name, F work) {
    running_.push_back(pool_.async(name, [work = std::move(work), &c = control_]() mutable {
      try {
        work();
      } catch (...) {
        c.fail();
        throw;
      }
    }));
  }

  /// Waits for all tasks; rethrows the error of the first one that failed, in the order of begin.
  void wait() {
    std::exception_ptr first;
    for (auto& task : running_) try {
        task.get();
      } catch (...) {
        if (!first) first = std::current_exception();
      }
    running_.clear();
    if (first) std::rethrow_exception(first);
  }

 private:
  Pool& pool_;
  control& control_;
  std::vector<typename Pool::backend::template future<void>> running_;
};

}  // namespace plaq::batch
