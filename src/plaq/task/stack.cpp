#include "plaq/task/stack.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "plaq/base/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace plaq::task::detail {

namespace {

/// Installs a guard that does not cut the mapping in two, if the kernel has such (Linux 6.13); the kernel's limit is on
/// mappings, and neighbours merge into one.
bool install_guard(void* at, std::size_t bytes) {
  constexpr int guard_install = 102;  // MADV_GUARD_INSTALL, which older headers do not know
  return madvise(at, bytes, guard_install) == 0 || mprotect(at, bytes, PROT_NONE) == 0;
}

}  // namespace

stack::stack(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  all_ = (bytes + page - 1) / page * page + guard;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* got = mmap(nullptr, all_, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (got == MAP_FAILED || !install_guard(got, guard)) {
    const std::string why = std::strerror(errno);
    if (got != MAP_FAILED) munmap(got, all_);
    throw runtime_failure("no stack of " + std::to_string(bytes) + " bytes for a task: " + why);
  }
  memory_ = static_cast<char*>(got);
}

stack::~stack() {
#if defined(__SANITIZE_ADDRESS__)  // marks of frames that were left stay, and others get the addresses
  __asan_unpoison_memory_region(bottom(), size());
#endif
  munmap(memory_, all_);
}

}  // namespace plaq::task::detail
