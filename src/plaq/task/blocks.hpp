// Memory of tasks and results: small blocks that threads keep for later.
#pragma once
#include <cstddef>
#include <new>

namespace plaq::task::detail {

/// Allocates memory for an object of a task. Throws std::bad_alloc.
void* allocate_block(std::size_t bytes);
/// Frees memory of allocate_block; any thread may.
void free_block(void* memory, std::size_t bytes) noexcept;

/// Base of classes whose objects live in blocks. Objects of larger alignment come from the heap.
struct in_blocks {
  static void* operator new(std::size_t bytes) { return allocate_block(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { free_block(memory, bytes); }
  static void* operator new(std::size_t bytes, std::align_val_t align) { return ::operator new(bytes, align); }
  static void operator delete(void* memory, std::size_t bytes, std::align_val_t align) noexcept {
    ::operator delete(memory, bytes, align);
  }
};

}  // namespace plaq::task::detail
