// Stack of a user-level thread, with a guard below it.
#pragma once
#include <cstddef>

namespace plaq::task::detail {

/// Stack with a guard whose access ends the process. The guard detects frames of up to half a MiB in any code. plaq's
/// own code and code built with it touches page after page (-fstack-clash-protection), whatever the frame. A larger
/// guard would cost time: a mark for each page of it.
class stack {
 public:
  static constexpr std::size_t guard = 512 * 1024;

  /// Allocates a stack; runtime_failure if the system has no more memory or mappings (before Linux 6.13 a stack takes
  /// two of vm.max_map_count).
  explicit stack(std::size_t bytes);
  ~stack();
  stack(const stack&) = delete;

  char* bottom() const noexcept { return memory_ + guard; }
  char* top() const noexcept { return memory_ + all_; }
  std::size_t size() const noexcept { return all_ - guard; }
  bool guards(const void* address) const noexcept { return memory_ <= address && address < bottom(); }

 private:
  char* memory_;
  std::size_t all_;
};

}  // namespace plaq::task::detail
