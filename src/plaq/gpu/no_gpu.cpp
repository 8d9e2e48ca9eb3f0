// plaq built without GPUs.
#include "plaq/base/error.hpp"
#include "plaq/gpu/devices.hpp"
#include "plaq/gpu/on_gpu.hpp"

namespace plaq::gpu {

namespace {
constexpr const char* why = "plaq was built without kernels for GPUs; `make gpu` in a checkout builds them";
}

device_list find_devices() { return {{}, why}; }

namespace on_gpu {

void* allocate(int, std::size_t) { throw runtime_failure(why); }
void release(int, void*) noexcept {}
void copy(int, void*, const void*, std::size_t) { throw runtime_failure(why); }
void clear(int, void*, std::size_t) { throw runtime_failure(why); }
std::size_t memory_left(int) { throw runtime_failure(why); }

}  // namespace on_gpu
}  // namespace plaq::gpu
