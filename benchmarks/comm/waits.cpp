// Calls that wait for other ranks, also on more ranks than cores: microseconds a call, median of so many batches.
// Ranks 2i and 2i + 1 exchange messages at the same time, from a thread and from a task. Runs on any MPI.
//   mpirun -n RANKS bench_waits [BATCHES [CALLS]]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;

int main(int count, char** arguments) {
  const int batches = count > 1 ? std::atoi(arguments[1]) : 15, calls = count > 2 ? std::atoi(arguments[2]) : 100;
  const auto world = comm::world();
  comm::collectives all(world);
  comm::messenger m(world);
  const int me = world.rank(), peer = me ^ 1;
  std::array<double, 1> number{1};
  std::vector<double> page(512, 1), blocks(std::size_t(world.size())), coming(1);

  const auto ping_pong = [&] {
    if (peer >= world.size()) return;
    for (int turn = 0; turn < 2; ++turn)
      if ((me & 1) == turn)
        m.isend(number, peer, 1).get();
      else
        m.irecv(coming, peer, 1).get();
  };
  const auto median = [&](const std::function<void()>& call) {
    std::vector<double> took;
    for (int b = -1; b < batches; ++b) {
      all.barrier();
      const stopwatch watch;
      for (int i = 0; i < calls; ++i) call();
      if (b >= 0) took.push_back(1e6 * watch.seconds() / calls);
    }
    std::ranges::sort(took);
    return took[took.size() / 2];
  };

  std::array<double, 6> us{};
  us[0] = median([&] { all.barrier(); });
  us[1] = median([&] { all.all_reduce(number, comm::operation::max); });
  us[2] = median([&] { all.all_reduce(page, comm::operation::max); });
  us[3] = median([&] { all.all_gather(number, blocks); });
  us[4] = median(ping_pong);
  us[5] = task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    std::vector<double> took;
    for (int b = -1; b < batches; ++b) {
      all.barrier();
      const stopwatch watch;
      pool.async("messages",
                 [&] {
                   for (int i = 0; i < calls; ++i) ping_pong();
                 })
          .get();
      if (b >= 0) took.push_back(1e6 * watch.seconds() / calls);
    }
    std::ranges::sort(took);
    return took[took.size() / 2];
  });
  all.barrier();
  if (me != 0) return 0;
  std::printf("%5s %10s %10s %10s %10s %10s %10s\n", "ranks", "barrier", "reduce 8", "reduce 4K", "gather 8", "message",
              "in a task");
  std::printf("%5d", world.size());
  for (const double t : us) std::printf(" %10.2f", t);
  std::printf("\n");
}
