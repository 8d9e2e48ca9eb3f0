#include <gtest/gtest.h>

#include "kernels.hpp"
#include "numbers.hpp"
#include "on_device.hpp"
#include "plaq/gpu/devices.hpp"
#include "plaq/gpu/host_team.hpp"

using namespace plaq::gpu;

namespace {
class on_device : public testing::Test {
 protected:
  void SetUp() override {
    const device_list found = find_devices();
    if (found.gpus.empty()) GTEST_SKIP() << "no GPU here: " << found.why_none;
  }
};
}  // namespace

TEST_F(on_device, every_operation_has_the_bits_of_the_host) {
  for (const int n : {1, 5, 32, 33, 100, 257}) {
    const auto x = numbers(n, 3);
    std::vector<double> expected(doubles_for(n), 0.), found = expected;
    serial_team team;
    every_operation(team, n, x.data(), expected.data());
    for (const int threads : {32, 128, 512}) {
      memory there({0}, 8 * (x.size() + found.size()));
      auto* at = reinterpret_cast<double*>(there.data());
      there.put(0, x.data(), 8 * x.size());
      there.put(8 * x.size(), std::vector<double>(found.size()).data(), 8 * found.size());
      launch_operations(threads, n, at, at + n);
      there.get(8 * x.size(), found.data(), 8 * found.size());
      EXPECT_EQ(found, expected) << n << " numbers, " << threads << " threads";
    }
  }
}

TEST_F(on_device, products_have_the_bits_of_the_host) {
  const int rows = 13, columns = 35;
  const auto x = floats(product_size(rows, columns), 12);
  std::vector<float> expected(2 * rows * columns), found(expected.size());
  serial_team team;
  two_products(team, rows, columns, x.data(), expected.data());
  for (const int threads : {32, 256}) {
    memory there({0}, 4 * (x.size() + found.size()));
    auto* at = reinterpret_cast<float*>(there.data());
    there.put(0, x.data(), 4 * x.size());
    launch_products(threads, rows, columns, at, at + x.size());
    there.get(4 * x.size(), found.data(), 4 * found.size());
    EXPECT_EQ(found, expected) << threads << " threads";
  }
}

TEST_F(on_device, inverse_has_the_bits_of_the_host) {
  for (const int n : {1, 2, 16, 31, 50, 101}) {
    const auto a = numbers(n * n, 20 + n);
    inverse_space space;
    arena counting(nullptr);
    space.allocate(counting, n);
    const std::size_t bytes = 8 * (a.size() + 1);
    memory there({0}, (bytes + 15) / 16 * 16 + counting.bytes());
    auto* at = reinterpret_cast<double*>(there.data());
    there.put(0, a.data(), 8 * a.size());
    arena rest(there.data() + (bytes + 15) / 16 * 16);
    space.allocate(rest, n);
    launch_inversion(256, n, at, space, at + a.size());

    std::vector<std::byte> scratch(counting.bytes());
    arena on_host(scratch.data());
    space.allocate(on_host, n);
    serial_team team;
    auto inverse = a;
    const scaled expected = invert(team, n, inverse.data(), n, space);
    std::vector<double> found(a.size());
    there.get(0, found.data(), 8 * found.size());
    EXPECT_EQ(found, inverse) << n;
    double determinant = 0;
    there.get(8 * a.size(), &determinant, 8);
    EXPECT_EQ(determinant, expected.value()) << n;
  }
}
