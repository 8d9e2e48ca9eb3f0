// The part of NVIDIA's driver that is used; plaq builds without its headers and finds the library when it runs.
// tests/comm/cuda_layout.cpp compares with cuda.h where that is found.
#pragma once
#include <cstddef>
#include <string>

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;

namespace plaq::comm::cuda {

using context = CUctx_st*;
using stream = CUstream_st*;
using event = CUevent_st*;
using address = unsigned long long;

enum result : int {
  success = 0,
  invalid_value = 1,
  not_initialized = 3,
  deinitialized = 4,
  invalid_context = 201,
  not_ready = 600
};
enum attribute : int {
  attribute_context = 1,
  attribute_memory_type = 2,
  attribute_is_managed = 8,
  attribute_device_ordinal = 9
};
enum memory_type : unsigned { host_memory = 1, device_memory = 2 };
inline constexpr unsigned alloc_portable = 1;       ///< pinned for all contexts
inline constexpr unsigned stream_non_blocking = 1;  ///< does not wait for the default stream
inline constexpr unsigned event_disable_timing = 2;

/// End of a copy of `height` rows of `width` bytes.
struct end_of_copy {
  std::size_t x, y;
  memory_type type;
  void* host;
  address device;
  void* array;
  std::size_t pitch;
};
struct copy_2d {
  end_of_copy from, to;
  std::size_t width, height;
};

/// Functions of libcuda.so.1, which return a result.
struct driver {
  int (*pointer_attributes)(unsigned count, attribute* which, void** values, address pointer);
  int (*device)(int* device, int ordinal);
  int (*retain_primary)(context* of, int device);
  int (*push)(context in);
  int (*pop)(context* out);
  int (*pin)(void** memory, std::size_t bytes, unsigned flags);
  int (*unpin)(void* memory);
  int (*make_stream)(stream* made, unsigned flags);
  int (*wait_for_stream)(stream of);
  int (*end_stream)(stream which);
  int (*make_event)(event* made, unsigned flags);
  int (*record)(event at, stream of);
  int (*query)(event which);
  int (*end_event)(event which);
  int (*copy)(address to, address from, std::size_t bytes, stream in);
  int (*copy_rows)(const copy_2d* what, stream in);
  int (*name_of)(int error, const char** name);
};

/// Returns the driver of this machine, or null if none is installed. The first call loads the library without
/// initialising it: a caller with device memory has done so.
const driver* find_driver();

/// Throws a runtime_failure with the name of the error unless `code` is success.
void must(int code, const char* call);

/// Guard that makes a context current for the calling thread.
class in_context {
 public:
  explicit in_context(context which);
  in_context(const in_context&) = delete;
  ~in_context();
};

/// Returns the context that can copy from and to `memory`, or null for host memory and managed memory.
context context_of(const void* memory);

}  // namespace plaq::comm::cuda
