// What a hierarchical all_reduce looks like on a timeline: rounds of tasks of unequal length, then the sum of 4
// MiB over all ranks by a tree.
//
//   mpirun -n 8 bench_traced FOLDER ARITY && plaq trace report FOLDER
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/wire/clock_offset.hpp"
#include "plaq/task/task.hpp"
#include "plaq/trace/session.hpp"

using namespace plaq;

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s FOLDER ARITY\n", argv[0]), 2;
  const auto world = comm::world();
  comm::collectives c(world, {false, comm::method{comm::algorithm::tree, std::atoi(argv[2]), 0}});
  std::vector<double> x(1 << 19, 1.0);
  c.all_reduce(x, comm::operation::sum);  // memory is touched
  trace::session session({.folder = argv[1], .rank = c.rank()});
  const auto offset = comm::measure_clock_offset(world);
  session.set_clock_offset(offset.seconds, offset.error);
  c.barrier();
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    for (int round = 0; round < 3; ++round) {
      const auto time = std::chrono::microseconds(500 + 100 * ((c.rank() * 5 + round * 3) % 8));
      pool.async("compute",
                 [&] {
                   for (const auto end = std::chrono::steady_clock::now() + time;
                        std::chrono::steady_clock::now() < end;) {
                   }
                 })
          .get();
      pool.async("sum over ranks", [&] { c.all_reduce(x, comm::operation::sum); }).get();
    }
  });
}
