// Names of tasks and regions: two words to copy, valid as long as the process.
#pragma once
#include <concepts>
#include <cstddef>
#include <string_view>

namespace plaq::trace {

/// Name of a task or region. A string literal is used as it is; any other string is kept in a table of the process,
/// once per distinct text, so build names from few distinct texts ("walker 3", not a counter of tasks).
class label {
 public:
  template <std::size_t N>
  consteval label(const char (&literal)[N]) : text_(literal, N - 1) {}  // NOLINT: implicit by design

  template <class String>
    requires(std::convertible_to<const String&, std::string_view> && !std::is_array_v<String>)
  label(const String& text) : text_(intern(text)) {}  // NOLINT: implicit by design

  std::string_view view() const noexcept { return text_; }

 private:
  static std::string_view intern(std::string_view text);
  std::string_view text_;
};

}  // namespace plaq::trace
