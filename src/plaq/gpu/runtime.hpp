// Calls of a GPU's runtime: all of it that plaq uses. The names are CUDA's; HIP's are the same with another prefix.
// Sources that include this are compiled only if plaq is built with GPUs.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq::gpu::runtime {

using code = cudaError_t;
using properties = cudaDeviceProp;

inline constexpr code success = cudaSuccess;
inline constexpr code no_driver = cudaErrorInsufficientDriver;  ///< or one that is too old
inline constexpr code out_of_memory = cudaErrorMemoryAllocation;

inline code count(int* gpus) { return cudaGetDeviceCount(gpus); }
inline code describe(properties* out, int gpu) { return cudaGetDeviceProperties(out, gpu); }
inline code choose(int gpu) { return cudaSetDevice(gpu); }  ///< for the calling thread
inline code allocate(void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); }
inline code release(void* memory) { return cudaFree(memory); }
/// Stream of the calling host thread: each has its own, so that none waits for the launches of another.
inline const cudaStream_t own_stream = cudaStreamPerThread;
inline code wait() { return cudaStreamSynchronize(own_stream); }  ///< for the requests of this thread
/// Copies from or to the host; the copy is complete on return.
inline code copy(void* to, const void* from, std::size_t bytes) {
  const code begun = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, own_stream);
  return begun == success ? wait() : begun;
}
/// Sets memory to zeros; complete on return.
inline code clear(void* memory, std::size_t bytes) {
  const code begun = cudaMemsetAsync(memory, 0, bytes, own_stream);
  return begun == success ? wait() : begun;
}
inline code memory_left(std::size_t* left, std::size_t* all) { return cudaMemGetInfo(left, all); }
inline code of_last_launch() { return cudaGetLastError(); }
inline const char* in_words(code error) { return cudaGetErrorString(error); }

/// Allows a kernel more memory per team than the default.
template <class Kernel>
code allow_team_memory(Kernel* kernel, std::size_t bytes) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                              int(bytes));
}

/// Throws a runtime_failure that names the call, unless `result` is success.
inline void must(code result, const char* call) {
  if (result == success) return;
  of_last_launch();  // would report this error again
  throw runtime_failure(std::string("GPU: ") + call + " failed: " + in_words(result));
}

}  // namespace plaq::gpu::runtime
