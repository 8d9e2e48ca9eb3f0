#include "plaq/comm/device/pinned_pool.hpp"

#include <algorithm>
#include <bit>

namespace plaq::comm {

namespace {
constexpr std::size_t smallest = 4096;  // bytes: pinned is a page at least
}

pinned_pool::~pinned_pool() {
  for (const auto& of_one_size : spare_)
    for (const buffer& b : of_one_size) unpin(b);
}

pinned_pool::buffer pinned_pool::take(std::size_t bytes, cuda::context in) {
  // What is too large to be kept need not have a size that fits others.
  const std::size_t size = bytes > most_kept ? bytes : std::bit_ceil(std::max(bytes, smallest));
  if (auto& spare = spare_of(size); size <= most_kept && !spare.empty()) {
    const buffer found = spare.back();
    spare.pop_back();
    kept_ -= size;
    return found;
  }
  const cuda::in_context now(in);
  void* fresh = nullptr;
  cuda::must(cuda::find_driver()->pin(&fresh, size, cuda::alloc_portable), "cuMemHostAlloc");
  return {static_cast<std::byte*>(fresh), size, in};
}

void pinned_pool::give_back(const buffer& done) noexcept {
  if (kept_ + done.size > most_kept) return unpin(done);
  spare_of(done.size).push_back(done);
  kept_ += done.size;
}

/// Unpins memory. A failure, as after the end of the context, is ignored.
void pinned_pool::unpin(const buffer& done) noexcept {
  const cuda::driver* cuda = cuda::find_driver();
  if (cuda->push(done.in) != cuda::success) return;
  cuda->unpin(done.data);
  cuda::context out = nullptr;
  cuda->pop(&out);
}

}  // namespace plaq::comm
