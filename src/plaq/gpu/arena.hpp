// One block of memory for many arrays.
#pragma once
#include <cstddef>

#include "plaq/base/anywhere.hpp"

namespace plaq::gpu {

/// Fast memory of a team: shared memory of a block of threads. On the host there is none.
struct fast_memory {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

/// Two arrays of one size, such as those of both spins. Their numbers need no table of pointers, which would lie in the
/// local memory of every thread of a GPU.
template <class T>
struct array_pair {
  T* first = nullptr;
  std::size_t apart = 0;

  PLAQ_ANYWHERE T* operator[](int which) const { return first + which * apart; }
};

/// Arena that allocates arrays from fast memory while they fit, then from a block of memory. Without a block it only
/// counts the bytes that it would take of one.
class arena {
 public:
  PLAQ_ANYWHERE explicit arena(std::byte* begin, fast_memory fast = {}) : begin_(begin), fast_(fast) {}
  template <class T>
  PLAQ_ANYWHERE void allocate(T*& out, std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + 15) / 16 * 16;
    if (bytes <= fast_.bytes) {
      out = reinterpret_cast<T*>(fast_.begin);
      fast_.begin += bytes;
      fast_.bytes -= bytes;
      return;
    }
    out = begin_ ? reinterpret_cast<T*>(begin_ + used_) : nullptr;
    used_ += bytes;
  }
  template <class T>
  PLAQ_ANYWHERE void allocate(array_pair<T>& out, std::size_t count) {
    out.apart = (count * sizeof(T) + 15) / 16 * 16 / sizeof(T);
    allocate(out.first, 2 * out.apart);
  }
  PLAQ_ANYWHERE std::size_t bytes() const { return used_; }

 private:
  std::byte* begin_;
  fast_memory fast_;
  std::size_t used_ = 0;
};

}  // namespace plaq::gpu
