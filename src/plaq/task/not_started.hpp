// Who waits for a task whose future nobody has must hear that it never begins.
#pragma once
#include <optional>
#include <utility>

namespace plaq::task {

/// Kept by the work of a task: calls told(), which must not throw, if that is destroyed before it begins, since no
/// memory or stack was left for it.
template <class Told>
class if_never_begun {
 public:
  explicit if_never_begun(Told told) : told_(std::move(told)) {}
  if_never_begun(if_never_begun&& other) noexcept : told_(std::move(other.told_)) { other.told_.reset(); }
  ~if_never_begun() {
    if (told_) (*told_)();
  }
  /// It begins.
  void begins() noexcept { told_.reset(); }

 private:
  std::optional<Told> told_;
};

}  // namespace plaq::task
