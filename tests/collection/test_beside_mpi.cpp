// The page on porting, as it stands: a program with MPI calls of its own, and the same with a collection.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "../comm/ranks.hpp"
#include "plaq/collection/lease.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;
using comm::test::world;

namespace {

constexpr int steps = 25;
std::vector<double> start(int me) {
  std::vector<double> u(64);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = 1.0 / double(1 + i + 64 * std::size_t(me));
  return u;
}
int cost(int rank) { return rank == 0 ? 5 : 1; }
void smooth(const std::vector<double>& u, std::vector<double>& next, double before, double after, int cost) {
  for (int k = 0; k < cost; ++k)
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double l = i == 0 ? before : u[i - 1], r = i + 1 == u.size() ? after : u[i + 1];
      next[i] = u[i] + 0.2 * (l - 2 * u[i] + r);
    }
}
struct piece {
  std::vector<double> u, next;
  int cost = 0;
  void serialize(archive& ar) { ar(u, next, cost); }
};

TEST(beside_mpi, the_page_runs) {
  const auto& world = ::world();
  const int me = world.rank(), p = world.size();
  for (const auto& backend : task::backends()) {
    std::vector<double> reference;
    task::with_backend(backend, {.workers = 2}, [&](auto& pool) {
#include "porting/mpi_collection.inc"
    });
  }
}

TEST(beside_mpi, what_is_not_given_back_goes_back_as_it_came) {
  std::vector<double> u{1, 2, 3};
  try {
    const auto lent = from_mpi(u);
    EXPECT_TRUE(u.empty());
    EXPECT_EQ(lent.in()[1], 2);
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(u, (std::vector<double>{1, 2, 3}));
  auto first = from_mpi(u);
  {
    const auto second = std::move(first);
    EXPECT_TRUE(u.empty());
  }
  EXPECT_EQ(u.size(), 3u);
}

}  // namespace
