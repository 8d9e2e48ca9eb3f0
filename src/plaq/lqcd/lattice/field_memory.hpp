// Memory of fields.
#pragma once
#include <cstddef>

namespace plaq::lqcd {

/// Returns memory for a field, in pages of 2 MiB if it is that large, not cleared. std::bad_alloc if there is none.
///
/// Blocks of 64 KiB to 16 MiB that were freed are kept for the next field of the same size, at most 64 MiB in all: the
/// fields of a solve then need no new pages, which the system would clear. Thread-safe.
void* allocate_field(std::size_t bytes);
/// Frees memory of allocate_field() with the same number of bytes.
void free_field(void* memory, std::size_t bytes) noexcept;

/// Deleter of a field's memory.
struct free_memory {
  std::size_t bytes;
  void operator()(void* memory) const noexcept { free_field(memory, bytes); }
};

}  // namespace plaq::lqcd
