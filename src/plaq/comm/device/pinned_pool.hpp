// Pool of pinned host memory, which a device copies to and from by itself.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "plaq/comm/device/cuda_driver.hpp"

namespace plaq::comm {

/// Pool of pinned buffers. Pinning is slow and may block a device, so buffers are reused. One thread at a time calls.
class pinned_pool {
 public:
  static constexpr std::size_t most_kept = std::size_t(64) << 20;  // bytes

  struct buffer {
    std::byte* data = nullptr;
    std::size_t size = 0;
    cuda::context in = nullptr;
  };

  pinned_pool() = default;
  ~pinned_pool();
  pinned_pool(const pinned_pool&) = delete;

  /// Returns a buffer of at least `bytes`. Throws runtime_failure.
  buffer take(std::size_t bytes, cuda::context in);
  void give_back(const buffer& done) noexcept;

 private:
  std::vector<buffer>& spare_of(std::size_t size) { return spare_[std::size_t(std::bit_width(size)) - 1]; }
  static void unpin(const buffer& done) noexcept;

  std::array<std::vector<buffer>, 64> spare_;  // sizes are powers of two: by the exponent
  std::size_t kept_ = 0;
};

}  // namespace plaq::comm
