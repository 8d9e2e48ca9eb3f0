#pragma once
#include "plaq/gpu/inverse.hpp"

namespace plaq::gpu {

void launch_operations(int threads, int n, const double* x, double* out);
void launch_inversion(int threads, int n, double* a, inverse_space space, double* determinant);
void launch_products(int threads, int rows, int columns, const float* x, float* out);

}  // namespace plaq::gpu
