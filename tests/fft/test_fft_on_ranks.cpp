// The page, as it stands, on ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <span>
#include <vector>

#include "../comm/ranks.hpp"
#include "plaq/base/error.hpp"
#include "plaq/fft/mesh.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;

namespace {

TEST(fft_on_ranks, the_page_runs) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto& world = comm::test::world();
#include "fft.inc"
  });
}

}  // namespace
