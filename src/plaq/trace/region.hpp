// Region: a named part of a task or of a thread, from its construction to the end of its scope.
#pragma once
#include <cstdint>

#include "plaq/trace/hooks.hpp"
#include "plaq/trace/label.hpp"

namespace plaq::trace {

namespace detail {
std::uint64_t begin_region(std::string_view name) noexcept;
void end_region(std::uint64_t number) noexcept;
}  // namespace detail

/// Region, as in `trace::region r("measure");`. Regions nest. While its task is suspended a region has no time of its
/// own; it may end on another worker than it began on. Without a session it costs one predictable branch. A region that
/// begins before a session, or in a task that began to run before it, is missing, or counts as its thread's. A region
/// that is not `wanted`, such as a part of a few microseconds, is not recorded.
class region {
 public:
  explicit region(label name, bool wanted = true) noexcept {
    if (recording() && wanted) [[unlikely]]
      number_ = detail::begin_region(name.view());
  }
  ~region() {
    if (number_) [[unlikely]]
      detail::end_region(number_);
  }
  region(const region&) = delete;
  region& operator=(const region&) = delete;

  /// Number, unique in the process; 0 if no session records.
  std::uint64_t id() const noexcept { return number_; }

 private:
  std::uint64_t number_ = 0;
};

}  // namespace plaq::trace
