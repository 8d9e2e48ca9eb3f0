#include "plaq/base/memory.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/gpu/devices.hpp"
#include "plaq/gpu/on_gpu.hpp"

namespace plaq::gpu {

namespace {
constexpr std::align_val_t alignment{256};  // as a GPU's
}

memory::memory(device where, std::size_t bytes) : where_(where), size_(bytes) {
  if (bytes == 0) return;
  data_ = static_cast<std::byte*>(where.gpu == device::host ? ::operator new(bytes, alignment)
                                                            : on_gpu::allocate(where.gpu, bytes));
}

memory::~memory() {
  if (!data_) return;
  if (where_.gpu == device::host)
    ::operator delete(data_, alignment);
  else
    on_gpu::release(where_.gpu, data_);
}

memory::memory(memory&& other) noexcept { *this = std::move(other); }

memory& memory::operator=(memory&& other) noexcept {
  std::swap(where_, other.where_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void memory::put(std::size_t offset, const void* from, std::size_t bytes) {
  check(offset + bytes <= size_, "gpu::memory: more bytes than there are");
  if (bytes == 0) return;
  if (where_.gpu == device::host)
    std::memcpy(data_ + offset, from, bytes);
  else
    on_gpu::copy(where_.gpu, data_ + offset, from, bytes);
}

void memory::get(std::size_t offset, void* to, std::size_t bytes) const {
  check(offset + bytes <= size_, "gpu::memory: more bytes than there are");
  if (bytes == 0) return;
  if (where_.gpu == device::host)
    std::memcpy(to, data_ + offset, bytes);
  else
    on_gpu::copy(where_.gpu, to, data_ + offset, bytes);
}

void memory::clear() {
  if (size_ == 0) return;
  if (where_.gpu == device::host)
    std::memset(data_, 0, size_);
  else
    on_gpu::clear(where_.gpu, data_, size_);
}

std::size_t memory_left(device where) {
  return where.gpu == device::host ? std::size_t(plaq::memory_left().available) : on_gpu::memory_left(where.gpu);
}

}  // namespace plaq::gpu
