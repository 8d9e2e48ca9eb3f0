// Speed of the hopping matrix at 1320 operations a site, of all ranks together:
//   [mpirun -n RANKS] bench_hopping [workers a rank] [lanes] [T X Y Z ...]
#include "plaq/lqcd/hopping.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/lqcd/random_fields.hpp"

using namespace plaq;
using namespace plaq::lqcd;

namespace {

template <class T, class S = T>
double gigaflops(engine& by, const coordinates& extents, int lanes, int& used) {
  const lattice mine(extents, grid_for(by.messages.size(), extents), by.messages.rank());
  const auto where = std::make_shared<layout>(mine, lanes ? lanes : widest<T>());
  used = where->lanes();
  links<double> gauge(where);
  hot_start(gauge, 1);
  const auto in_double = std::make_unique<hopping<double>>(by, gauge);
  hopping<T, S> H(*in_double, where);
  spinors<T> a(where), b(where);
  gaussian(a, 1);
  double best = 0;
  by.hands.inside("bench", [&] {
    const int calls = int(1 + 200'000'000 / (1320 * product(extents)));
    for (int repeat = 0; repeat < 8; ++repeat) {
      by.together.barrier();
      const stopwatch time;
      for (int i = 0; i < calls; ++i) H(b, a, 0), H(a, b, 1, {.c = T(0.1)});
      by.together.barrier();
      best = std::max(best, 1320e-9 * double(product(extents)) * calls / time.seconds());
    }
  });
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = argc > 1 ? std::atoi(argv[1]) : 1, lanes = argc > 2 ? std::atoi(argv[2]) : 0;
  std::vector<coordinates> sizes;
  for (int i = 3; i + 3 < argc; i += 4)
    sizes.push_back({std::atoi(argv[i]), std::atoi(argv[i + 1]), std::atoi(argv[i + 2]), std::atoi(argv[i + 3])});
  if (sizes.empty()) sizes = {{8, 8, 8, 8}, {12, 12, 12, 12}, {16, 16, 16, 16}, {48, 24, 24, 24}};
  const auto world = comm::world();
  comm::messenger messages(world);
  comm::collectives together(world);
  const bool speaks = world.rank() == 0;
  const auto hands = make_workers("fiber", {.workers = workers});
  engine by{*hands, messages, together};
  if (speaks)
    std::printf("%-20s %6s %14s %14s %14s   Gflop/s, %d rank(s), %d worker(s) each\n", "lattice", "lanes", "double",
                "single", "16-bit links", world.size(), workers);
  for (const auto& e : sizes) {
    int in_double = 0, in_single = 0;
    const double d = gigaflops<double>(by, e, lanes, in_double), s = gigaflops<float>(by, e, lanes, in_single);
    const double h = gigaflops<float, fixed16>(by, e, lanes, in_single);
    if (!speaks) continue;
    std::printf("%-20s %2d, %2d %14.1f %14.1f %14.1f\n", in_words(e).c_str(), in_double, in_single, d, s, h);
    std::fflush(stdout);
  }
}
