// Notification that a task never starts, for code that waits for it without a future.
#pragma once
#include <optional>
#include <utility>

namespace plaq::task {

/// Member of a task's work: calls callback(), which must not throw, if the work is destroyed before it started, because
/// there was no memory or stack for it.
template <class Callback>
class if_not_started {
 public:
  explicit if_not_started(Callback callback) : callback_(std::move(callback)) {}
  if_not_started(if_not_started&& other) noexcept : callback_(std::move(other.callback_)) { other.callback_.reset(); }
  ~if_not_started() {
    if (callback_) (*callback_)();
  }
  /// Declares that the task has started.
  void started() noexcept { callback_.reset(); }

 private:
  std::optional<Callback> callback_;
};

}  // namespace plaq::task
