// Numbers of the workers of a pool in traces and counters.
#pragma once

namespace plaq::task::detail {

/// Numbers first(), first() + 1, ...: as many as workers, the lowest that no other pool of the process has now. So the
/// only pool counts from 0, and workers of two pools differ.
class worker_numbers {
 public:
  explicit worker_numbers(int workers);
  ~worker_numbers();
  worker_numbers(const worker_numbers&) = delete;
  int first() const noexcept { return first_; }

 private:
  int first_ = 0;
  const int workers_;
};

}  // namespace plaq::task::detail
