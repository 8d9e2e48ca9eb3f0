// The names of a GPU's runtime: what stands here is all of it that plaq calls. CUDA's; HIP's are the same with another
// prefix. Sources that include this are compiled where plaq is built with GPUs.
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
/// Every thread of the host has a stream of its own, so that one does not wait for what another one launched.
inline const cudaStream_t own_stream = cudaStreamPerThread;
inline code wait() { return cudaStreamSynchronize(own_stream); }  ///< for what this thread has asked for
/// From or to the host; when it returns, the copy is complete.
inline code copy(void* to, const void* from, std::size_t bytes) {
  const code begun = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, own_stream);
  return begun == success ? wait() : begun;
}
/// To zeros; when it returns, that is done.
inline code clear(void* memory, std::size_t bytes) {
  const code begun = cudaMemsetAsync(memory, 0, bytes, own_stream);
  return begun == success ? wait() : begun;
}
inline code memory_left(std::size_t* left, std::size_t* all) { return cudaMemGetInfo(left, all); }
inline code of_last_launch() { return cudaGetLastError(); }
inline const char* in_words(code error) { return cudaGetErrorString(error); }

/// More memory of a team than every kernel has.
template <class Kernel>
code allow_team_memory(Kernel* kernel, std::size_t bytes) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                              int(bytes));
}

/// Throws a runtime_failure that names the call, unless `result` is success.
inline void must(code result, const char* call) {
  if (result != success) throw runtime_failure(std::string("GPU: ") + call + " failed: " + in_words(result));
}

}  // namespace plaq::gpu::runtime
