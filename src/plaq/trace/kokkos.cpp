// Listener of Kokkos: a program with Kokkos loads it by KOKKOS_TOOLS_LIBS. Kernels, fences, copies and regions of the
// program become regions of the thread that calls them.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plaq/trace/foreign.hpp"

namespace {

using plaq::trace::detail::begin_foreign_region;
using plaq::trace::detail::end_foreign_region;

thread_local std::vector<std::uint64_t> pushed;  // regions of the program
thread_local std::vector<std::uint64_t> copies;

/// Name of a memory space, as Kokkos passes it.
struct space {
  char name[64];
};

}  // namespace

#define PLAQ_TOOL extern "C" [[gnu::visibility("default")]]

PLAQ_TOOL void kokkosp_init_library(int, std::uint64_t, std::uint32_t, void*) {
  plaq::trace::detail::begin_foreign_session();
}
PLAQ_TOOL void kokkosp_finalize_library() { plaq::trace::detail::end_foreign_session(); }

PLAQ_TOOL void kokkosp_begin_parallel_for(const char* name, std::uint32_t, std::uint64_t* kernel) {
  *kernel = begin_foreign_region(name);
}
PLAQ_TOOL void kokkosp_end_parallel_for(std::uint64_t kernel) { end_foreign_region(kernel); }
PLAQ_TOOL void kokkosp_begin_parallel_reduce(const char* name, std::uint32_t, std::uint64_t* kernel) {
  *kernel = begin_foreign_region(name);
}
PLAQ_TOOL void kokkosp_end_parallel_reduce(std::uint64_t kernel) { end_foreign_region(kernel); }
PLAQ_TOOL void kokkosp_begin_parallel_scan(const char* name, std::uint32_t, std::uint64_t* kernel) {
  *kernel = begin_foreign_region(name);
}
PLAQ_TOOL void kokkosp_end_parallel_scan(std::uint64_t kernel) { end_foreign_region(kernel); }

PLAQ_TOOL void kokkosp_begin_fence(const char* name, std::uint32_t, std::uint64_t* fence) {
  *fence = begin_foreign_region("wait for " + std::string(name));
}
PLAQ_TOOL void kokkosp_end_fence(std::uint64_t fence) { end_foreign_region(fence); }

PLAQ_TOOL void kokkosp_begin_deep_copy(space to, const char*, const void*, space from, const char*, const void*,
                                       std::uint64_t) {
  copies.push_back(begin_foreign_region("copy from " + std::string(from.name) + " to " + to.name));
}
PLAQ_TOOL void kokkosp_end_deep_copy() {
  if (copies.empty()) return;
  end_foreign_region(copies.back());
  copies.pop_back();
}

PLAQ_TOOL void kokkosp_push_profile_region(const char* name) { pushed.push_back(begin_foreign_region(name)); }
PLAQ_TOOL void kokkosp_pop_profile_region() {
  if (pushed.empty()) return;
  end_foreign_region(pushed.back());
  pushed.pop_back();
}
