// Memory of GPUs, for memory.cpp: with_gpu.cpp if plaq is built for them, else no_gpu.cpp.
#pragma once
#include <cstddef>

namespace plaq::gpu::on_gpu {

void* allocate(int gpu, std::size_t bytes);
void release(int gpu, void* memory) noexcept;
void copy(int gpu, void* to, const void* from, std::size_t bytes);
void clear(int gpu, void* memory, std::size_t bytes);
std::size_t memory_left(int gpu);

}  // namespace plaq::gpu::on_gpu
