// What the set-up of `collectives` costs: the first of a communicator, and one more. Of the rank that has most:
// messages and bytes that plaq sends, memory that stays (with MPI's own), processor time of the least of some rounds.
//
//   mpirun -n RANKS bench_setup [ROUNDS]
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "../../tests/comm/counting_wire.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"

namespace {

using namespace plaq::comm;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  const communicator world = plaq::comm::world();
  collectives all(world);
  std::array<std::array<double, 5>, 2> found{};
  for (int round = 0; round < rounds; ++round) {
    test::counting_wire::counts made;
    const communicator over(std::make_unique<test::counting_wire>(world.open_wire(), made));
    std::vector<std::unique_ptr<collectives>> kept;
    for (auto& f : found) {
      all.barrier();
      made = {};
      const double memory = double(mallinfo2().uordblks), begin = processor_seconds();
      kept.push_back(std::make_unique<collectives>(over));
      std::array now{double(made.duplicates + made.splits + made.nodes), double(made.messages), double(made.bytes),
                     double(mallinfo2().uordblks) - memory, 1e6 * (processor_seconds() - begin)};
      all.all_reduce(now, operation::max);
      if (round == 0) f = now;
      for (std::size_t i = 3; i < now.size(); ++i) f[i] = std::min(f[i], now[i]);
    }
  }
  if (world.rank() == 0)
    for (const bool first : {true, false}) {
      const auto& f = found[first ? 0 : 1];
      std::printf("%4d ranks, %-6s %.0f communicators, %.0f messages of %.0f bytes, %.0f bytes stay, %.0f us\n",
                  world.size(), first ? "first:" : "next:", f[0], f[1], f[2], f[3], f[4]);
    }
  return 0;
}
