// plaq's collectives beside MPI's own and a flat root-to-all, in one run. Writes one line of CSV for each point.
//
//   mpirun -n RANKS bench_collectives REPEATS BYTES,BYTES,... OPERATION,OPERATION,...
#include "plaq/comm/collectives/collectives.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "plaq/comm/collectives/measure.hpp"
#include "plaq/comm/job/world.hpp"

namespace {

using namespace plaq::comm;

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> found;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) found.push_back(word);
  return found;
}

void must(int code) {
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Whether one side holds a block for every rank.
bool has_blocks(collective what) {
  return what == collective::scatter || what == collective::gather || what == collective::all_gather ||
         what == collective::all_to_all || what == collective::reduce_scatter;
}

/// The same call as `sample_call` by MPI itself.
std::function<void()> mpi_call(collective what, std::size_t bytes, int ranks) {
  const int n = int(bytes / sizeof(float));
  const std::size_t all = std::size_t(n) * std::size_t(has_blocks(what) ? ranks : 1);
  static std::vector<float> in, out;
  in.assign(std::max(in.size(), all), 1);
  out.assign(std::max(out.size(), all), 1);
  const MPI_Comm w = MPI_COMM_WORLD;
  float *i = in.data(), *o = out.data();
  switch (what) {
    case collective::barrier: return [=] { must(MPI_Barrier(w)); };
    case collective::broadcast: return [=] { must(MPI_Bcast(o, n, MPI_FLOAT, 0, w)); };
    case collective::reduce: return [=] { must(MPI_Reduce(i, o, n, MPI_FLOAT, MPI_MAX, 0, w)); };
    case collective::scatter: return [=] { must(MPI_Scatter(i, n, MPI_FLOAT, o, n, MPI_FLOAT, 0, w)); };
    case collective::gather: return [=] { must(MPI_Gather(i, n, MPI_FLOAT, o, n, MPI_FLOAT, 0, w)); };
    case collective::all_reduce: return [=] { must(MPI_Allreduce(MPI_IN_PLACE, o, n, MPI_FLOAT, MPI_MAX, w)); };
    case collective::all_gather: return [=] { must(MPI_Allgather(i, n, MPI_FLOAT, o, n, MPI_FLOAT, w)); };
    case collective::all_to_all: return [=] { must(MPI_Alltoall(i, n, MPI_FLOAT, o, n, MPI_FLOAT, w)); };
    case collective::reduce_scatter: return [=] { must(MPI_Reduce_scatter_block(i, o, n, MPI_FLOAT, MPI_MAX, w)); };
    case collective::inclusive_scan: return [=] { must(MPI_Scan(MPI_IN_PLACE, o, n, MPI_FLOAT, MPI_MAX, w)); };
    case collective::exclusive_scan: return [=] { must(MPI_Exscan(MPI_IN_PLACE, o, n, MPI_FLOAT, MPI_MAX, w)); };
  }
  return {};
}

/// Everybody talks to one root.
collective_options flat(collective what, int ranks) {
  const bool rounds = what == collective::inclusive_scan || what == collective::exclusive_scan;
  const bool exchange = what == collective::all_to_all || what == collective::reduce_scatter;
  return {false, method{exchange ? algorithm::direct : algorithm::tree, rounds ? 2 : std::max(2, ranks), 0}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: %s REPEATS BYTES,... OPERATION,...\n", argv[0]), 2;
  const communicator world = plaq::comm::world();
  const std::size_t most = (std::size_t(1) << 30) / std::size_t(world.size());  // bytes of one rank's buffer
  if (world.rank() == 0) std::printf("operation,ranks,bytes,mpi_us,flat_us,plaq_us,algorithm,arity,segment\n");
  for (const auto& name : words(argv[3])) {
    const auto what = collective_named(name);
    collectives tuned(world), root_to_all(world, flat(what, world.size()));
    for (const auto& size : words(argv[2])) {
      const std::size_t bytes = std::stoull(size);
      if (has_blocks(what) && bytes * std::size_t(world.size()) > most) continue;
      const auto seconds = median_seconds(
          world,
          {mpi_call(what, bytes, world.size()), sample_call(root_to_all, what, bytes), sample_call(tuned, what, bytes)},
          std::atoi(argv[1]));
      const auto by = tuned.choice({what, 0, bytes, sizeof(float)});
      if (world.rank() == 0) {
        std::printf("%s,%d,%zu,%.2f,%.2f,%.2f,%s,%d,%zu\n", name.c_str(), world.size(), bytes, 1e6 * seconds[0],
                    1e6 * seconds[1], 1e6 * seconds[2], std::string(name_of(by.how)).c_str(), by.arity, by.segment);
        std::fflush(stdout);
      }
    }
  }
  return 0;
}
