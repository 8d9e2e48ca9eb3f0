#include "plaq/trace/subject.hpp"

#include "plaq/trace/recorder.hpp"

namespace plaq::trace {

std::uint32_t detail::number_of_subject(std::string_view name) { return number_of_name(name); }
std::uint64_t detail::begin_about(std::uint32_t subject) noexcept { return recorder::about_begin(subject); }
void detail::end_about(std::uint64_t number) noexcept { recorder::region_end(number); }

}  // namespace plaq::trace
