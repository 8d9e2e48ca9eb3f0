// Compiled where cuda.h is found: the declarations of cuda_driver.hpp against NVIDIA's.
#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "plaq/comm/device/cuda_driver.hpp"

namespace {

using namespace plaq::comm;

static_assert(std::is_same_v<CUcontext, cuda::context>);
static_assert(std::is_same_v<CUstream, cuda::stream>);
static_assert(std::is_same_v<CUevent, cuda::event>);
static_assert(std::is_same_v<CUdeviceptr, cuda::address>);
static_assert(std::is_same_v<CUdevice, int>);

static_assert(int(CUDA_SUCCESS) == cuda::success);
static_assert(int(CUDA_ERROR_INVALID_VALUE) == cuda::invalid_value);
static_assert(int(CUDA_ERROR_NOT_INITIALIZED) == cuda::not_initialized);
static_assert(int(CUDA_ERROR_DEINITIALIZED) == cuda::deinitialized);
static_assert(int(CUDA_ERROR_INVALID_CONTEXT) == cuda::invalid_context);
static_assert(int(CUDA_ERROR_NOT_READY) == cuda::not_ready);
static_assert(int(CU_POINTER_ATTRIBUTE_CONTEXT) == cuda::attribute_context);
static_assert(int(CU_POINTER_ATTRIBUTE_MEMORY_TYPE) == cuda::attribute_memory_type);
static_assert(int(CU_POINTER_ATTRIBUTE_IS_MANAGED) == cuda::attribute_is_managed);
static_assert(int(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) == cuda::attribute_device_ordinal);
static_assert(unsigned(CU_MEMORYTYPE_HOST) == cuda::host_memory);
static_assert(unsigned(CU_MEMORYTYPE_DEVICE) == cuda::device_memory);
static_assert(CU_MEMHOSTALLOC_PORTABLE == cuda::alloc_portable);
static_assert(unsigned(CU_STREAM_NON_BLOCKING) == cuda::stream_non_blocking);
static_assert(unsigned(CU_EVENT_DISABLE_TIMING) == cuda::event_disable_timing);

#define SAME_PLACE(their_field, our_end, our_field)                                              \
  static_assert(offsetof(CUDA_MEMCPY2D, their_field) ==                                          \
                    offsetof(cuda::copy_2d, our_end) + offsetof(cuda::end_of_copy, our_field) && \
                sizeof(CUDA_MEMCPY2D::their_field) == sizeof(cuda::end_of_copy::our_field))
#define SAME_END(theirs, ours)                \
  SAME_PLACE(theirs##XInBytes, ours, x);      \
  SAME_PLACE(theirs##Y, ours, y);             \
  SAME_PLACE(theirs##MemoryType, ours, type); \
  SAME_PLACE(theirs##Host, ours, host);       \
  SAME_PLACE(theirs##Device, ours, device);   \
  SAME_PLACE(theirs##Array, ours, array);     \
  SAME_PLACE(theirs##Pitch, ours, pitch)
SAME_END(src, from);
SAME_END(dst, to);
static_assert(offsetof(CUDA_MEMCPY2D, WidthInBytes) == offsetof(cuda::copy_2d, width));
static_assert(offsetof(CUDA_MEMCPY2D, Height) == offsetof(cuda::copy_2d, height));
static_assert(sizeof(CUDA_MEMCPY2D) == sizeof(cuda::copy_2d));

// Functions are found by name: those that the names of cuda.h stand for, with arguments as they are declared here
// but for what the names of types say.
#define TEXT(name) #name
#define NAME(name) TEXT(name)
constexpr bool same(const char* a, const char* b) { return *a == *b && (*a == 0 || same(a + 1, b + 1)); }
static_assert(same(NAME(cuCtxPushCurrent), "cuCtxPushCurrent_v2") &&
              same(NAME(cuCtxPopCurrent), "cuCtxPopCurrent_v2") && same(NAME(cuStreamDestroy), "cuStreamDestroy_v2") &&
              same(NAME(cuEventDestroy), "cuEventDestroy_v2") && same(NAME(cuMemcpy2DAsync), "cuMemcpy2DAsync_v2"));
static_assert(same(NAME(cuPointerGetAttributes), "cuPointerGetAttributes") && same(NAME(cuDeviceGet), "cuDeviceGet") &&
              same(NAME(cuDevicePrimaryCtxRetain), "cuDevicePrimaryCtxRetain") &&
              same(NAME(cuMemHostAlloc), "cuMemHostAlloc") && same(NAME(cuMemFreeHost), "cuMemFreeHost") &&
              same(NAME(cuStreamCreate), "cuStreamCreate") && same(NAME(cuEventCreate), "cuEventCreate") &&
              same(NAME(cuStreamSynchronize), "cuStreamSynchronize") && same(NAME(cuEventRecord), "cuEventRecord") &&
              same(NAME(cuEventQuery), "cuEventQuery") && same(NAME(cuMemcpyAsync), "cuMemcpyAsync") &&
              same(NAME(cuGetErrorName), "cuGetErrorName"));
template <class Function, class Theirs>
constexpr bool is = std::is_same_v<Function, Theirs>;
static_assert(is<decltype(&cuPointerGetAttributes), CUresult (*)(unsigned, CUpointer_attribute*, void**, CUdeviceptr)>);
static_assert(is<decltype(&cuDeviceGet), CUresult (*)(int*, int)>);
static_assert(is<decltype(&cuDevicePrimaryCtxRetain), CUresult (*)(CUcontext*, int)>);
static_assert(is<decltype(&cuCtxPushCurrent), CUresult (*)(CUcontext)>);
static_assert(is<decltype(&cuCtxPopCurrent), CUresult (*)(CUcontext*)>);
static_assert(is<decltype(&cuMemHostAlloc), CUresult (*)(void**, std::size_t, unsigned)>);
static_assert(is<decltype(&cuMemFreeHost), CUresult (*)(void*)>);
static_assert(is<decltype(&cuStreamCreate), CUresult (*)(CUstream*, unsigned)>);
static_assert(is<decltype(&cuStreamSynchronize), CUresult (*)(CUstream)>);
static_assert(is<decltype(&cuStreamDestroy), CUresult (*)(CUstream)>);
static_assert(is<decltype(&cuEventCreate), CUresult (*)(CUevent*, unsigned)>);
static_assert(is<decltype(&cuEventRecord), CUresult (*)(CUevent, CUstream)>);
static_assert(is<decltype(&cuEventQuery), CUresult (*)(CUevent)>);
static_assert(is<decltype(&cuEventDestroy), CUresult (*)(CUevent)>);
static_assert(is<decltype(&cuMemcpyAsync), CUresult (*)(CUdeviceptr, CUdeviceptr, std::size_t, CUstream)>);
static_assert(is<decltype(&cuMemcpy2DAsync), CUresult (*)(const CUDA_MEMCPY2D*, CUstream)>);
static_assert(is<decltype(&cuGetErrorName), CUresult (*)(CUresult, const char**)>);

}  // namespace
