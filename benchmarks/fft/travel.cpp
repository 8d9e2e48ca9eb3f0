// What cutting a mesh into more parts than ranks hides of the way between hosts: chunks travel while other parts are
// transformed. Forward transforms of n^3 complex points in slabs, which travel once; one worker a rank:
//   sudo python benchmarks/comm/hosts.py --hosts 2 --ranks-per-host 1 --delay-us 1000 --mbit 1000 bench_travel
// [n [FOLDER [parts a rank]]]: a trace of one transform with that many parts is written to the folder.
// Milliseconds, the median of 9 transforms; numbers of parts take turns.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/wire/clock_offset.hpp"
#include "plaq/fft/mesh.hpp"
#include "plaq/task/task.hpp"
#include "plaq/trace/session.hpp"

using namespace plaq;

int main(int count, char** arguments) {
  const auto world = comm::world();
  comm::collectives all(world);
  const int n = count > 1 ? std::atoi(arguments[1]) : 128;
  const bool traced = count > 2;
  std::vector<int> parts{1, 2, 4, 8, 16};
  if (traced) parts = {count > 3 ? std::atoi(arguments[3]) : 8};
  const int repeats = traced ? 1 : 9;
  std::vector<std::vector<double>> took(parts.size());
  for (int k = -1; k < repeats; ++k)  // the first makes connections
    for (std::size_t which = 0; which < parts.size(); ++which)
      task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
        fft::mesh mesh("mesh", world, pool, {n, n, n}, {.parts_per_rank = parts[which]});
        std::unique_ptr<trace::session> session;
        if (traced && k == 0) {
          session =
              std::make_unique<trace::session>(trace::session_options{.folder = arguments[2], .rank = world.rank()});
          const auto offset = comm::measure_clock_offset(world);
          session->set_clock_offset(offset.seconds, offset.error);
        }
        all.barrier();
        const stopwatch watch;
        mesh.forward([](const fft::block&, std::span<fft::complex> v) { std::ranges::fill(v, fft::complex(1, 1)); },
                     [](const fft::block&, std::span<const fft::complex>) {});
        std::array ms{1e3 * watch.seconds()};
        all.all_reduce(ms, comm::operation::max);
        if (k >= 0) took[which].push_back(ms[0]);
      });
  if (world.rank() != 0) return 0;
  std::printf("%d ranks, %d^3 points\n%8s %8s %8s %8s\n", world.size(), n, "parts", "ms", "least", "most");
  for (std::size_t which = 0; which < parts.size(); ++which) {
    std::ranges::sort(took[which]);
    std::printf("%8d %8.1f %8.1f %8.1f\n", parts[which], took[which][took[which].size() / 2], took[which].front(),
                took[which].back());
  }
}
