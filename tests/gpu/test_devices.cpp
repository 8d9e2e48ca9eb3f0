#include <gtest/gtest.h>

#include "plaq/base/error.hpp"
#include "plaq/gpu/devices.hpp"

using namespace plaq::gpu;

TEST(devices, are_there_or_why_none_is_said) {
  const device_list found = find_devices();
  EXPECT_EQ(found.gpus.empty(), !found.why_none.empty());
  for (const device_properties& gpu : found.gpus) EXPECT_GT(gpu.memory, 0u) << gpu.name;
}

TEST(memory, keeps_what_is_put_there) {
  const int gpus = int(find_devices().gpus.size());
  for (int gpu = device::host; gpu < gpus; ++gpu) {
    memory there({gpu}, 800);
    EXPECT_EQ(there.size(), 800u);
    const double x[2] = {1.5, -2};
    double back[2] = {};
    there.put(784, x, sizeof x);
    there.get(784, back, sizeof back);
    EXPECT_EQ(back[0], 1.5);
    EXPECT_EQ(back[1], -2);
    there.clear();
    there.get(784, back, sizeof back);
    EXPECT_EQ(back[0], 0);
    EXPECT_EQ(back[1], 0);
    there.put(784, x, sizeof x);
    memory moved = std::move(there);
    EXPECT_EQ(there.data(), nullptr);
    moved.get(784, back, sizeof back);
    EXPECT_EQ(back[1], -2);
    EXPECT_THROW(moved.put(785, x, sizeof x), plaq::runtime_failure);
    EXPECT_THROW(moved.get(800, back, 1), plaq::runtime_failure);
  }
}

TEST(memory, is_left) {
  const int gpus = int(find_devices().gpus.size());
  for (int gpu = device::host; gpu < gpus; ++gpu) EXPECT_GT(memory_left({gpu}), std::size_t(1) << 20);
}

TEST(memory, of_a_gpu_that_is_not_there_is_a_clear_failure) {
  const int gpus = int(find_devices().gpus.size());
  EXPECT_THROW(memory({gpus}, 8), plaq::runtime_failure);
}
