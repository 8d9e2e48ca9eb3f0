// Kernels on the host, with sums in the order of a GPU.
#include "plaq/lqcd/device/launch.hpp"

namespace plaq::lqcd::device {

template <class Kernel>
void launch_on_host(const Kernel& kernel) {
  gpu::serial_team team;
  double scratch[scratch_size];
  for (int block = 0; block < kernel.blocks(); ++block) kernel(team, block, scratch);
}

#define INSTANTIATE(...) template void launch_on_host(const __VA_ARGS__&);
PLAQ_LQCD_DEVICE_KERNELS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace plaq::lqcd::device
