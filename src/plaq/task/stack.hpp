// A stack for a user-level thread, with a guard below it.
#pragma once
#include <cstddef>

namespace plaq::task::detail {

/// Whoever touches the guard ends the process. It holds off frames of up to half a MiB, whoever compiled them; plaq's
/// own code and what is built with it touches page after page (-fstack-clash-protection), whatever the frame. More
/// would cost time: a mark for each page of it.
class stack {
 public:
  static constexpr std::size_t guard = 512 * 1024;

  /// Throws runtime_failure where the system gives no more memory or mappings (before Linux 6.13 a stack takes two
  /// of vm.max_map_count).
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
