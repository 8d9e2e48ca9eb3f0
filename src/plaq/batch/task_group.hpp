// The tasks of one run.
#pragma once
#include <exception>
#include <utility>
#include <vector>

#include "plaq/batch/control.hpp"
#include "plaq/trace/label.hpp"

namespace plaq::batch {

/// If one fails, the others stop at the end of their step and keep what they have.
template <class Pool>
class crew {
 public:
  crew(Pool& pool, control& c) : pool_(pool), control_(c) {}

  /// work() as a task. What it refers to has to outlive the pool.
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

  /// Returns when all have ended; throws what the first of those that failed threw, in the order of begin.
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
