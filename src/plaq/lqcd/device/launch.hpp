// Launches of kernels on a GPU, or on the host in its place.
//
// A kernel is an object that a block of threads() threads calls with its team, for each of blocks() blocks, and with
// scratch memory that the team shares. Launches return at once; gpu::memory::get waits for them.
#pragma once
#include "plaq/gpu/devices.hpp"
#include "plaq/lqcd/device/hop.hpp"
#include "plaq/lqcd/device/step_state.hpp"
#include "plaq/lqcd/device/vectors.hpp"

namespace plaq::lqcd::device {

/// Numbers of scratch memory.
inline constexpr int scratch_size = 2 * on_sites::part;

/// Runs a kernel on the host, a block after the other.
template <class Kernel>
void launch_on_host(const Kernel& kernel);
/// Launches a kernel on a GPU. Throws a runtime_failure if this fails or plaq was built without GPUs.
template <class Kernel>
void launch_on_gpu(int number, const Kernel& kernel);

template <class Kernel>
void launch(gpu::device where, const Kernel& kernel) {
  where.gpu == gpu::device::host ? launch_on_host(kernel) : launch_on_gpu(where.gpu, kernel);
}

}  // namespace plaq::lqcd::device

/// Kernels that are compiled, each as an argument of F.
// clang-format off
#define PLAQ_LQCD_DEVICE_KERNELS(F) \
  F(hop<double>) F(hop<float>) F(hop<fixed16>) F(hop<fixed16, float>) \
  F(convert<double>) F(convert<float>) F(convert<fixed16>) \
  F(accumulate<double>) F(accumulate<float>) F(accumulate<fixed16>) \
  F(turn<double, double>) F(turn<float, float>) F(turn<fixed16, float>) \
  F(overlap<double, double>) F(overlap<float, float>) F(overlap<fixed16, float>) \
  F(advance<double, double>) F(advance<float, float>) F(advance<fixed16, float>) \
  F(convert_links<float>) F(convert_links<fixed16>) \
  F(total) F(choose_alpha) F(end_step)
// clang-format on
