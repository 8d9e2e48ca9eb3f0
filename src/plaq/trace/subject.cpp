#include "plaq/trace/subject.hpp"

#include "plaq/trace/recorder.hpp"

namespace plaq::trace {

std::uint32_t detail::number_of_subject(std::string_view name) { return number_of_name(name); }
std::uint64_t detail::begin_subject(std::uint32_t subject) noexcept { return recorder::subject_begin(subject); }
void detail::end_subject(std::uint64_t number) noexcept { recorder::region_end(number); }

}  // namespace plaq::trace
