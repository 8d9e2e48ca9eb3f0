// Window of steps: how far elements of a collection run ahead of each other.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>

#include "plaq/collection/runtime/wire_format.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::elements {

/// Steps that may be issued beyond the last one that all elements of all ranks have done. So what an element sends to
/// one that is late is bounded, and so are the steps in memory.
///
/// Marks tell how far all are: steps that are reductions too, at least two in each window. To be issued, a step waits
/// until a mark less than a window before it has passed. No deadlock can come of it: an element that is behind the
/// others takes only messages of steps that are issued, so it never waits for what has to wait for it.
class step_window {
 public:
  static constexpr step_number by_default = 256;

  /// Sets the length, in steps. @pre most >= 2, the same on all ranks (input_error for less).
  void set_most(step_number most);
  /// Sets the last step that all elements have done, where steps begin.
  void begin_after(step_number last);

  /// Whether step `next` is to be a mark.
  bool wants_mark(step_number next) const { return next - last_mark_ >= most_ / 2; }
  /// A reduction in step `at` is issued.
  void mark(step_number at) { last_mark_ = at; }
  /// All elements have done step `at`.
  void pass(step_number at);
  /// Whether step `next` has to wait.
  bool is_full(step_number next) const;
  /// Returns when step `next` need not wait, or after stop(). Calls begins() where it waits, with waits() true.
  void wait(step_number next, const std::function<void()>& begins);
  /// Whether a step waits to be issued.
  bool waits() const { return waits_; }
  void stop() noexcept;

 private:
  step_number most_ = by_default, last_mark_ = -1;  ///< of the driver
  mutable task::mutex mutex_;                       ///< of what follows
  task::condition_variable changed_;
  step_number passed_ = -1, awaited_ = -1;
  bool stopped_ = false;
  std::atomic<bool> waits_{false};
};

}  // namespace plaq::elements
