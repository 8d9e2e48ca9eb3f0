// What a task is about, such as an element of a collection: many tasks of one name differ in it. In a profile they
// count together, by the name of the task.
#pragma once
#include <cstdint>
#include <string_view>

#include "plaq/trace/hooks.hpp"

namespace plaq::trace {

namespace detail {
std::uint32_t number_of_subject(std::string_view name);
std::uint64_t begin_about(std::uint32_t subject) noexcept;
void end_about(std::uint64_t number) noexcept;
}  // namespace detail

/// A name that is kept for the process; to make one takes a lock, so make it once.
class subject {
 public:
  explicit subject(std::string_view name) : number_(detail::number_of_subject(name)) {}
  std::uint32_t number() const noexcept { return number_; }

 private:
  std::uint32_t number_;
};

/// From where it is made to the end of its scope the task is about this; a null pointer leaves nothing. Costs what a
/// region does.
class about {
 public:
  explicit about(const subject* what) noexcept {
    if (what && recording()) [[unlikely]]
      number_ = detail::begin_about(what->number());
  }
  ~about() {
    if (number_) [[unlikely]]
      detail::end_about(number_);
  }
  about(const about&) = delete;
  about& operator=(const about&) = delete;

 private:
  std::uint64_t number_ = 0;
};

}  // namespace plaq::trace
