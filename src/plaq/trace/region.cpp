#include "plaq/trace/region.hpp"

#include "plaq/trace/recorder.hpp"

namespace plaq::trace {

std::uint64_t detail::begin_region(std::string_view name) noexcept { return recorder::region_begin(name); }
void detail::end_region(std::uint64_t number) noexcept { recorder::region_end(number); }

}  // namespace plaq::trace
