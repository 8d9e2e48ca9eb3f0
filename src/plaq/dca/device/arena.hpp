// One block of memory for many arrays.
#pragma once
#include <cstddef>

#include "plaq/base/anywhere.hpp"

namespace plaq::dca::device {

/// Arena that allocates arrays from a block of memory, or only counts their bytes where there is none.
class arena {
 public:
  PLAQ_ANYWHERE explicit arena(std::byte* begin) : begin_(begin) {}
  template <class T>
  PLAQ_ANYWHERE void allocate(T*& out, std::size_t count) {
    out = begin_ ? reinterpret_cast<T*>(begin_ + used_) : nullptr;
    used_ += (count * sizeof(T) + 15) / 16 * 16;
  }
  PLAQ_ANYWHERE std::size_t bytes() const { return used_; }

 private:
  std::byte* begin_;
  std::size_t used_ = 0;
};

}  // namespace plaq::dca::device
