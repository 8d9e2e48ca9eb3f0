// Subject of a task, such as an element of a collection. Many tasks of one name have different subjects; in a profile
// they count together, by the name of the task.
#pragma once
#include <cstdint>
#include <string_view>

#include "plaq/trace/hooks.hpp"

namespace plaq::trace {

namespace detail {
std::uint32_t number_of_subject(std::string_view name);
std::uint64_t begin_subject(std::uint32_t subject) noexcept;
void end_subject(std::uint64_t number) noexcept;
}  // namespace detail

/// Name of a subject, kept for the process; making one takes a lock, so make it once.
class subject {
 public:
  explicit subject(std::string_view name) : number_(detail::number_of_subject(name)) {}
  std::uint32_t number() const noexcept { return number_; }

 private:
  std::uint32_t number_;
};

/// Scope in which the task has this subject; a null pointer records nothing. Costs as much as a region.
class subject_scope {
 public:
  explicit subject_scope(const subject* of_task) noexcept {
    if (of_task && recording()) [[unlikely]]
      number_ = detail::begin_subject(of_task->number());
  }
  ~subject_scope() {
    if (number_) [[unlikely]]
      detail::end_subject(number_);
  }
  subject_scope(const subject_scope&) = delete;
  subject_scope& operator=(const subject_scope&) = delete;

 private:
  std::uint64_t number_ = 0;
};

}  // namespace plaq::trace
