// Names of tasks, as those of regions, with their priority and domain.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>

#include "plaq/task/priority.hpp"
#include "plaq/trace/label.hpp"

namespace plaq::task {

/// Name of a task, such as "walker", {"walker", priority::high}, {"walker", on_domain(1)} or all three.
class task_name : public trace::label {
 public:
  template <std::size_t N>
  consteval task_name(const char (&literal)[N]) : label(literal) {}  // NOLINT: implicit by design
  template <class String>
    requires(std::convertible_to<const String&, std::string_view> && !std::is_array_v<String>)
  task_name(const String& text) : label(text) {}                                    // NOLINT: implicit by design
  task_name(label name, task::priority priority = task::priority::normal) noexcept  // NOLINT: implicit by design
      : label(name), how_{priority, detail::attributes::any} {}
  task_name(label name, on_domain where, task::priority priority = task::priority::normal) noexcept
      : label(name), how_{priority, narrow(where.number)} {}

  /// Priority and domain.
  detail::attributes attributes() const noexcept { return how_; }

 private:
  /// A number that does not fit is kept as one that no pool has: the pool refuses it.
  static std::int16_t narrow(int domain) noexcept {
    constexpr int most = std::numeric_limits<std::int16_t>::max();
    return static_cast<std::int16_t>(domain < 0 ? most : std::min(domain, most));
  }
  detail::attributes how_;
};

}  // namespace plaq::task
