#include "plaq/lqcd/lattice/field_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace plaq::lqcd {

namespace {

constexpr std::size_t huge_page = std::size_t(2) << 20;

std::size_t size_of_block(std::size_t bytes) {
  const std::size_t page = bytes < huge_page ? 64 : huge_page;
  return (bytes + page - 1) / page * page;
}

/// Freed blocks by size.
class kept_blocks {
 public:
  void* take(std::size_t size) {
    const std::lock_guard guard(lock_);
    const auto found = blocks_.find(size);
    if (found == blocks_.end() || found->second.empty()) return nullptr;
    void* const block = found->second.back();
    found->second.pop_back();
    kept_ -= size;
    return block;
  }
  /// Returns whether the block is kept.
  bool keep(void* block, std::size_t size) noexcept try {
    if (size < least || size > most) return false;
    const std::lock_guard guard(lock_);
    if (kept_ + size > most_in_all) return false;
    blocks_[size].push_back(block);
    kept_ += size;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

 private:
  static constexpr std::size_t least = std::size_t(64) << 10, most = std::size_t(16) << 20, most_in_all = 4 * most;
  std::mutex lock_;
  std::map<std::size_t, std::vector<void*>> blocks_;
  std::size_t kept_ = 0;
};

kept_blocks& freed_blocks() {
  static auto& blocks = *new kept_blocks;  // fields may be freed when the program ends
  return blocks;
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool keeps_blocks = false;  // a use after the end of a field is found
#else
constexpr bool keeps_blocks = true;
#endif

}  // namespace

void* allocate_field(std::size_t bytes) {
  const std::size_t size = size_of_block(bytes);
  if (keeps_blocks)
    if (void* const block = freed_blocks().take(size)) return block;
  // Kernels read many streams at once: with pages of 4 KiB they would wait for address translation.
  void* const block = std::aligned_alloc(bytes < huge_page ? 64 : huge_page, size);
  if (!block) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (bytes >= huge_page) ::madvise(block, size, MADV_HUGEPAGE);  // a refusal does no harm
#endif
  return block;
}

void free_field(void* memory, std::size_t bytes) noexcept {
  if (!keeps_blocks || !freed_blocks().keep(memory, size_of_block(bytes))) std::free(memory);
}

}  // namespace plaq::lqcd
