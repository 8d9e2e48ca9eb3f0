// One piece of memory for many arrays.
#pragma once
#include <cstddef>

#include "plaq/base/anywhere.hpp"

namespace plaq::dca::device {

/// Cuts a piece of memory into arrays, or counts its bytes if there is none yet.
class cutter {
 public:
  PLAQ_ANYWHERE explicit cutter(std::byte* begin) : begin_(begin) {}
  template <class T>
  PLAQ_ANYWHERE void cut(T*& out, std::size_t count) {
    out = begin_ ? reinterpret_cast<T*>(begin_ + used_) : nullptr;
    used_ += (count * sizeof(T) + 15) / 16 * 16;
  }
  PLAQ_ANYWHERE std::size_t bytes() const { return used_; }

 private:
  std::byte* begin_;
  std::size_t used_ = 0;
};

}  // namespace plaq::dca::device
