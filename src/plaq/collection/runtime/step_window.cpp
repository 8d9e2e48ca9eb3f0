#include "plaq/collection/runtime/step_window.hpp"

#include <algorithm>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq::elements {

void step_window::set_most(step_number most) {
  if (most < 2) throw input_error("a window of " + std::to_string(most) + " steps: it has at least 2");
  most_ = most;
}

void step_window::begin_after(step_number last) {
  std::lock_guard lock(mutex_);
  last_mark_ = passed_ = last;
}

/// A step that need not wait any more does not count as waiting, though its thread may run later: waves that found
/// nothing in progress meanwhile would take the next reduction for one that no rank finishes.
void step_window::pass(step_number at) {
  std::lock_guard lock(mutex_);
  passed_ = std::max(passed_, at);
  if (awaited_ - passed_ > most_) return;
  waits_ = false;
  changed_.notify_all();
}

bool step_window::is_full(step_number next) const {
  std::lock_guard lock(mutex_);
  return next - passed_ > most_;
}

void step_window::wait(step_number next, const std::function<void()>& begins) {
  {
    std::lock_guard lock(mutex_);
    if (next - passed_ <= most_ || stopped_) return;
    awaited_ = next;
    waits_ = true;
  }
  begins();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !waits_ || stopped_; });
}

void step_window::stop() noexcept {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace plaq::elements
