// A stack for a user-level thread, with a guard page below it.
#pragma once
#include <cstddef>

namespace plaq::task::detail {

class stack {
 public:
  /// Throws runtime_failure where the system gives no more memory or mappings (before Linux 6.13 a stack takes two
  /// of vm.max_map_count).
  explicit stack(std::size_t bytes);
  ~stack();
  stack(const stack&) = delete;

  char* bottom() const noexcept { return memory_ + guard_; }
  char* top() const noexcept { return memory_ + all_; }
  std::size_t size() const noexcept { return all_ - guard_; }

 private:
  char* memory_;
  std::size_t guard_, all_;
};

}  // namespace plaq::task::detail
