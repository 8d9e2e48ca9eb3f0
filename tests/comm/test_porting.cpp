// The code of docs/collectives.md, beside the MPI calls that it takes the place of. tests/test_porting.py keeps the
// two the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "plaq/comm/collectives.hpp"

namespace {

using namespace plaq::comm;

TEST(porting, the_page_runs) {
  const communicator world = communicator::world();
  collectives c(world);
  const int p = c.size(), me = c.rank(), n = 100;

  // MPI_Barrier(comm)
  c.barrier();

  // MPI_Bcast(x.data(), n, MPI_DOUBLE, 0, comm)
  std::vector<double> x(n, me == 0 ? 1.5 : 0.0);
  c.broadcast(x);
  EXPECT_EQ(x, std::vector<double>(n, 1.5));

  // MPI_Reduce(x.data(), sum.data(), n, MPI_DOUBLE, MPI_SUM, 0, comm)
  std::vector<double> sum(me == 0 ? n : 0);
  c.reduce(x, sum, operation::sum);
  EXPECT_EQ(sum, std::vector<double>(me == 0 ? n : 0, 1.5 * p));

  // MPI_Allreduce(MPI_IN_PLACE, x.data(), n, MPI_DOUBLE, MPI_MAX, comm)
  c.all_reduce(x, operation::max);
  EXPECT_EQ(x, std::vector<double>(n, 1.5));

  // MPI_Op_create(...), MPI_Allreduce(...)
  std::vector<int> bits{1 << me % 16};
  c.all_reduce(bits, [](int a, int b) { return a | b; });
  EXPECT_EQ(bits[0], p >= 16 ? 0xffff : (1 << p) - 1);

  // MPI_Scatter(all.data(), 1, MPI_INT, mine.data(), 1, MPI_INT, 0, comm)
  std::vector<int> all(p), mine(1);
  std::iota(all.begin(), all.end(), 10);
  c.scatter(all, mine);
  EXPECT_EQ(mine[0], 10 + me);

  // MPI_Gather, MPI_Allgather(mine.data(), 1, MPI_INT, all.data(), 1, MPI_INT, comm)
  c.gather(mine, all);
  c.all_gather(mine, all);
  EXPECT_EQ(all.back(), 10 + p - 1);

  // MPI_Alltoall(all.data(), 1, MPI_INT, turned.data(), 1, MPI_INT, comm)
  std::vector<int> turned(p);
  c.all_to_all(all, turned);
  EXPECT_EQ(turned, std::vector<int>(p, 10 + me));

  // MPI_Scan(MPI_IN_PLACE, mine.data(), 1, MPI_INT, MPI_SUM, comm)
  mine[0] = 1;
  c.inclusive_scan(mine, operation::sum);
  EXPECT_EQ(mine[0], me + 1);

  // MPI_Exscan: on rank 0 the result is the last argument, where MPI leaves it undefined
  mine[0] = 1;
  c.exclusive_scan(mine, operation::sum, 0);
  EXPECT_EQ(mine[0], me);

  // no counterpart: the same bits for any number of ranks
  const int pieces = 64, first = pieces * me / p, last = pieces * (me + 1) / p;
  std::vector<float> terms, total(1);
  for (int i = first; i < last; ++i) terms.push_back(1.f / float(i + 1));
  c.all_reduce_pieces(terms, total, operation::sum);
  EXPECT_NEAR(total[0], 4.7438909, 1e-5);
}

}  // namespace
