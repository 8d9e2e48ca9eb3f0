#include "plaq/gpu/runtime.hpp"
#include "plaq/lqcd/device/launch.hpp"

namespace plaq::lqcd::device {

namespace {

template <class Kernel>
__global__ __launch_bounds__(Kernel::most_threads, Kernel::blocks_at_once) void run(const Kernel kernel) {
  __shared__ double scratch[scratch_size];
  gpu::device_team team;
  kernel(team, int(blockIdx.x), scratch);
}

}  // namespace

template <class Kernel>
void launch_on_gpu(int number, const Kernel& kernel) {
  namespace runtime = gpu::runtime;
  runtime::must(runtime::choose(number), "choosing a device");
  const int threads = (kernel.threads() + gpu::lanes - 1) / gpu::lanes * gpu::lanes;
  run<<<kernel.blocks(), threads, 0, runtime::own_stream>>>(kernel);
  runtime::must(runtime::of_last_launch(), "a launch");
}

#define INSTANTIATE(...) template void launch_on_gpu(int, const __VA_ARGS__&);
PLAQ_LQCD_DEVICE_KERNELS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace plaq::lqcd::device
