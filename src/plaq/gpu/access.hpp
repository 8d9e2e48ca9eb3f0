// Accesses to global memory of 8 or 16 bytes a thread.
#pragma once
#include <bit>

#include "plaq/base/anywhere.hpp"

namespace plaq::gpu {

#if defined(__CUDACC__)
namespace access {
template <int Bytes>
struct words;
template <>
struct words<8> {
  using type = int2;
};
template <>
struct words<16> {
  using type = int4;
};
template <class T>
using words_of = typename words<int(sizeof(T))>::type;
}  // namespace access
#endif

/// Reads in one instruction.
template <class T>
PLAQ_ANYWHERE T read(const T* from) {
#if defined(__CUDA_ARCH__)
  return std::bit_cast<T>(*reinterpret_cast<const access::words_of<T>*>(from));
#else
  return *from;
#endif
}

/// Reads memory that this kernel does not write, and that other threads read soon.
template <class T>
PLAQ_ANYWHERE T read_shared(const T* from) {
#if defined(__CUDA_ARCH__)
  return std::bit_cast<T>(__ldg(reinterpret_cast<const access::words_of<T>*>(from)));
#else
  return *from;
#endif
}

/// Reads memory that is not read again soon: it leaves the caches first.
template <class T>
PLAQ_ANYWHERE T read_once(const T* from) {
#if defined(__CUDA_ARCH__)
  return std::bit_cast<T>(__ldcs(reinterpret_cast<const access::words_of<T>*>(from)));
#else
  return *from;
#endif
}

/// Writes in one instruction.
template <class T>
PLAQ_ANYWHERE void write(T* to, const T& value) {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<access::words_of<T>*>(to) = std::bit_cast<access::words_of<T>>(value);
#else
  *to = value;
#endif
}

}  // namespace plaq::gpu
