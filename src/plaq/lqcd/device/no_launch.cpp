// Launches of a plaq that was built without GPUs.
#include "plaq/base/error.hpp"
#include "plaq/lqcd/device/launch.hpp"

namespace plaq::lqcd::device {

template <class Kernel>
void launch_on_gpu(int, const Kernel&) {
  throw runtime_failure("plaq was built without GPUs");
}

#define INSTANTIATE(...) template void launch_on_gpu(int, const __VA_ARGS__&);
PLAQ_LQCD_DEVICE_KERNELS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace plaq::lqcd::device
