// The kernels of the tests, launched on GPU 0: one block.
#include "kernels.hpp"
#include "on_device.hpp"
#include "plaq/gpu/runtime.hpp"

namespace plaq::gpu {

namespace {
__global__ void operations(int n, const double* x, double* out) {
  device_team team;
  every_operation(team, n, x, out);
}
__global__ void inversion(int n, double* a, inverse_space space, double* determinant) {
  device_team team;
  const scaled found = invert(team, n, a, n, space);
  team.once([&] { *determinant = found.value(); });
}
__global__ void products(int rows, int columns, const float* x, float* out) {
  device_team team;
  two_products(team, rows, columns, x, out);
}
}  // namespace

void launch_operations(int threads, int n, const double* x, double* out) {
  operations<<<1, threads, 0, runtime::own_stream>>>(n, x, out);
  runtime::must(runtime::of_last_launch(), "a launch");
  runtime::must(runtime::wait(), "a kernel");
}

void launch_inversion(int threads, int n, double* a, inverse_space space, double* determinant) {
  inversion<<<1, threads, 0, runtime::own_stream>>>(n, a, space, determinant);
  runtime::must(runtime::of_last_launch(), "a launch");
  runtime::must(runtime::wait(), "a kernel");
}

void launch_products(int threads, int rows, int columns, const float* x, float* out) {
  products<<<1, threads, 0, runtime::own_stream>>>(rows, columns, x, out);
  runtime::must(runtime::of_last_launch(), "a launch");
  runtime::must(runtime::wait(), "a kernel");
}

}  // namespace plaq::gpu
