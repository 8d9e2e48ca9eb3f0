// The page on porting, as it stands: a program with MPI and OpenMP, with tasks and messages, and with elements.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <span>
#include <vector>

#include "../comm/ranks.hpp"
#include "plaq/base/error.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/fft/mesh.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;

namespace {

struct part {
  std::vector<fft::complex> values;
  void serialize(archive& ar) { ar(values); }
};

fft::complex point(int x, int y) { return {std::cos(x * y + 1), 1.0 / (1 + x + 2 * y)}; }

TEST(fft_porting, the_page_runs) {
  const auto& world = comm::test::world();
  const int me = world.rank(), p = world.size(), rows = 4, n = rows * p;
  const fft::lines line{std::size_t(n)};
  const auto start = [&](int rank) {
    std::vector<fft::complex> out;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < n; ++x) out.push_back(point(x, rank * rows + y));
    return out;
  };
  // X(kx, ky) by its sum.
  const auto exact = [&](int kx, int ky) {
    fft::complex sum = 0;
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) sum += point(x, y) * std::polar(1.0, -2 * std::numbers::pi * (x * kx + y * ky) / n);
    return sum;
  };
  for (const auto& backend : task::backends()) {
    std::vector<fft::complex> reference;
    task::with_backend(backend, {.workers = 2}, [&](auto& pool) {
#include "porting/mpi_fft.inc"
    });
    for (int x = 0; x < rows; ++x)
      for (int y = 0; y < n; ++y)
        EXPECT_LT(std::abs(reference[std::size_t(x * n + y)] - exact(me * rows + x, y)), 1e-12 * n) << x << " " << y;
  }
}

}  // namespace
