#include "plaq/task/blocks.hpp"

#include <array>
#include <mutex>
#include <utility>

#include "plaq/task/waiter.hpp"

namespace plaq::task::detail {

#if defined(__SANITIZE_ADDRESS__)  // which detects the use of freed memory

void* allocate_block(std::size_t bytes) { return ::operator new(bytes); }
void free_block(void* memory, std::size_t) noexcept { ::operator delete(memory); }

#else

namespace {

constexpr std::size_t unit = 64, sizes = 8;  ///< sizes of blocks: 64, 128, ... 512 bytes
constexpr std::size_t batch = 64;            ///< blocks that move between threads at once

constexpr std::size_t size_class(std::size_t bytes) { return (bytes - 1) / unit; }

/// Free block.
struct block {
  block* next;
  block* next_batch;  ///< in the first block of a batch
};

/// Batches of free blocks of one size, for all threads.
struct store {
  spin_lock guard;
  block* first = nullptr;

  void add(block* of) noexcept {
    std::lock_guard lock(guard);
    of->next_batch = std::exchange(first, of);
  }
  block* take() noexcept {
    std::lock_guard lock(guard);
    return first ? std::exchange(first, first->next_batch) : nullptr;
  }
};
constinit std::array<store, sizes> stores;

/// Free blocks of one size that belong to a thread: less than a batch, and maybe a batch more. So a thread that
/// allocates and frees in turn visits the store once in `batch` calls.
struct own_list {
  block* first;
  block* full;
  std::size_t count;
  std::size_t most;  ///< a batch; 0 before the thread keeps blocks, and after its end
};
// Without a destructor, which would cost a check in each access.
constinit thread_local std::array<own_list, sizes> own{};

/// Gives the blocks of a thread back at its end.
struct at_end {
  at_end() {
    for (own_list& of : own) of.most = batch;
  }
  ~at_end() {
    for (std::size_t s = 0; s < sizes; ++s) {
      own_list of = std::exchange(own[s], {});
      if (of.full) stores[s].add(of.full);
      while (of.first) ::operator delete(std::exchange(of.first, of.first->next));
    }
    ended = true;
  }
  static constinit thread_local bool ended;
};
constinit thread_local bool at_end::ended = false;

/// Whether this thread keeps free blocks: until it ends.
bool keeps_blocks() noexcept {
  if (at_end::ended) return false;
  static thread_local const at_end once;
  return true;
}

/// Allocates where the list of the thread is empty.
[[gnu::noinline]] void* allocate_other(std::size_t bytes) {
  const std::size_t s = size_class(bytes);
  if (s >= sizes) return ::operator new(bytes);
  if (!keeps_blocks()) return ::operator new((s + 1) * unit);
  own_list& to = own[s];
  block* const got = to.full ? std::exchange(to.full, nullptr) : stores[s].take();
  if (!got) return ::operator new((s + 1) * unit);
  to.first = got->next;
  to.count = batch - 1;
  return got;
}

/// Frees where the list of the thread has no room.
[[gnu::noinline]] void free_other(void* memory, std::size_t bytes) noexcept {
  const std::size_t s = size_class(bytes);
  if (s >= sizes || !keeps_blocks()) return ::operator delete(memory);
  own_list& to = own[s];
  if (to.count == batch) {
    if (to.full) stores[s].add(to.full);
    to.full = std::exchange(to.first, nullptr);
    to.count = 0;
  }
  to.first = ::new (memory) block{to.first, nullptr};
  ++to.count;
}

}  // namespace

// Not inlined: a task may continue in another thread, and compilers keep addresses of thread-local variables.
[[gnu::noinline]] void* allocate_block(std::size_t bytes) {
  const std::size_t s = size_class(bytes);
  if (s >= sizes || !own[s].first) return allocate_other(bytes);
  own_list& from = own[s];
  --from.count;
  return std::exchange(from.first, from.first->next);
}

[[gnu::noinline]] void free_block(void* memory, std::size_t bytes) noexcept {
  const std::size_t s = size_class(bytes);
  if (s >= sizes || own[s].count == own[s].most) return free_other(memory, bytes);
  own_list& to = own[s];
  to.first = ::new (memory) block{to.first, nullptr};
  ++to.count;
}

#endif

}  // namespace plaq::task::detail
