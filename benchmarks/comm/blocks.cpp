// Processor time of calls with blocks of any length, beside MPI's own. Writes one line of CSV for each point.
//
//   mpirun -n RANKS bench_blocks ROUNDS CALLS BYTES,BYTES,...
//
// A round has CALLS calls of each variant, one variant after the other. Times are of all threads of all ranks, over
// calls and ranks; medians of the rounds.
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"

namespace {

using namespace plaq::comm;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

void must(int code) {
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

std::vector<int> as_ints(const std::vector<std::size_t>& counts) { return {counts.begin(), counts.end()}; }
std::vector<int> offsets(const std::vector<int>& counts) {
  std::vector<int> out{0};
  for (const int n : counts) out.push_back(out.back() + n);
  return out;
}

/// Calls of plaq and of MPI that do the same.
struct pair {
  const char* name;
  std::function<void()> plaq, mpi;
};

/// Blocks of 0 to 2 n floats from each rank to each.
pair all_to_all(collectives& c, std::size_t n) {
  const auto length = [n](int from, int to) { return std::mt19937(unsigned(1000 * from + to))() % (2 * n + 1); };
  static std::vector<std::size_t> to, from;
  static std::vector<float> own, all;
  static std::vector<int> to_i, from_i, to_at, from_at;
  to.clear(), from.clear();
  for (int r = 0; r < c.size(); ++r) to.push_back(length(c.rank(), r)), from.push_back(length(r, c.rank()));
  to_i = as_ints(to), from_i = as_ints(from), to_at = offsets(to_i), from_at = offsets(from_i);
  own.assign(std::size_t(to_at.back()), 1), all.assign(std::size_t(from_at.back()), 0);
  return {"all_to_all", [&c] { c.all_to_all(own, to, all, from); },
          [] {
            must(MPI_Alltoallv(own.data(), to_i.data(), to_at.data(), MPI_FLOAT, all.data(), from_i.data(),
                               from_at.data(), MPI_FLOAT, MPI_COMM_WORLD));
          }};
}

/// Blocks of n/2 and 3n/2 floats in turn.
pair reduce_scatter(collectives& c, std::size_t n) {
  static std::vector<std::size_t> counts;
  static std::vector<int> counts_i;
  static std::vector<float> own, block;
  counts.clear();
  for (int r = 0; r < c.size(); ++r) counts.push_back(r % 2 ? n - n / 2 : n + n / 2);
  counts_i = as_ints(counts);
  own.assign(std::size_t(offsets(counts_i).back()), 1), block.assign(counts[std::size_t(c.rank())], 0);
  return {
      "reduce_scatter", [&c] { c.reduce_scatter(own, counts, block, operation::sum); },
      [] { must(MPI_Reduce_scatter(own.data(), block.data(), counts_i.data(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD)); }};
}

/// Blocks of n floats to the two neighbours on a ring, and to those at distance 2.
pair exchange(collectives& c, std::size_t n) {
  static std::vector<neighbour> peers;
  static std::vector<float> own, all;
  static std::vector<int> ranks, counts, at;
  static MPI_Comm graph = MPI_COMM_NULL;
  peers.clear(), ranks.clear();
  const int p = c.size(), me = c.rank();
  for (const int step : {1, -1, 2, -2}) ranks.push_back((me + step + p) % p);
  for (const int r : ranks) peers.push_back({r, n});
  // The i-th block for a rank is the i-th from it, so where ranks are named twice both lists have the same order.
  own.assign(4 * n, 1), all.assign(4 * n, 0);
  counts.assign(4, int(n)), at = offsets(counts);
  if (graph == MPI_COMM_NULL)
    must(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, ranks.data(), MPI_UNWEIGHTED, 4, ranks.data(),
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
  return {"exchange", [&c] { c.exchange(own, peers, all, peers); },
          [] {
            must(MPI_Neighbor_alltoallv(own.data(), counts.data(), at.data(), MPI_FLOAT, all.data(), counts.data(),
                                        at.data(), MPI_FLOAT, graph));
          }};
}

double median(std::vector<double> of) {
  std::ranges::nth_element(of, of.begin() + std::ptrdiff_t(of.size() / 2));
  return of[of.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: %s ROUNDS CALLS BYTES,...\n", argv[0]), 2;
  const int rounds = std::atoi(argv[1]), calls = std::atoi(argv[2]);
  const communicator world = plaq::comm::world();
  collectives c(world);
  if (world.rank() == 0) std::printf("operation,ranks,bytes,mpi_us,plaq_us\n");
  std::istringstream sizes(argv[3]);
  for (std::string size; std::getline(sizes, size, ',');)
    for (const auto make : {all_to_all, reduce_scatter, exchange}) {
      const pair what = make(c, std::stoull(size) / sizeof(float));
      std::array<std::vector<double>, 2> times;
      for (int round = 0; round < rounds + 1; ++round)  // the first is not counted
        for (const int which : {0, 1}) {
          c.barrier();
          const double begin = processor_seconds();
          for (int i = 0; i < calls; ++i) (which ? what.plaq : what.mpi)();
          std::array<double, 1> spent{processor_seconds() - begin};
          c.all_reduce(spent, operation::sum);
          if (round > 0) times[std::size_t(which)].push_back(1e6 * spent[0] / calls / world.size());
        }
      if (world.rank() == 0) {
        std::printf("%s,%d,%s,%.2f,%.2f\n", what.name, world.size(), size.c_str(), median(times[0]), median(times[1]));
        std::fflush(stdout);
      }
    }
  return 0;
}
