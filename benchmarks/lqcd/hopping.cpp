// Speed of the hopping matrix at 1320 operations a site, of all ranks together:
//   [mpirun -n RANKS] bench_hopping [workers a rank] [lanes] [T X Y Z ...]
#include "plaq/lqcd/dirac/hopping.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"

using namespace plaq;
using namespace plaq::lqcd;

namespace {

template <class T, class S = T>
double gigaflops(context& ctx, const coordinates& extents, int lanes, int& used) {
  const lattice mine(extents, choose_grid(ctx.messages.size(), extents), ctx.messages.rank());
  const auto layout = std::make_shared<site_layout>(mine, lanes ? lanes : max_lanes<T>());
  used = layout->lanes();
  links<double> gauge(layout);
  hot_start(gauge, 1);
  const auto in_double = std::make_unique<hopping<double>>(ctx, gauge);
  hopping<T, S> H(*in_double, layout);
  spinors<T> a(layout), b(layout);
  gaussian(a, 1);
  double best = 0;
  ctx.workers.run("bench", [&] {
    const int calls = int(1 + 200'000'000 / (1320 * product(extents)));
    for (int repeat = 0; repeat < 8; ++repeat) {
      ctx.collectives.barrier();
      const stopwatch time;
      for (int i = 0; i < calls; ++i) H(b, a, 0), H(a, b, 1, {.c = T(0.1)});
      ctx.collectives.barrier();
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
  comm::collectives collectives(world);
  const bool speaks = world.rank() == 0;
  const auto worker_group = make_workers("fiber", {.workers = workers});
  context ctx{*worker_group, messages, collectives};
  if (speaks)
    std::printf("%-20s %6s %14s %14s %14s   Gflop/s, %d rank(s), %d worker(s) each\n", "lattice", "lanes", "double",
                "single", "16-bit links", world.size(), workers);
  for (const auto& e : sizes) {
    int in_double = 0, in_single = 0;
    const double d = gigaflops<double>(ctx, e, lanes, in_double), s = gigaflops<float>(ctx, e, lanes, in_single);
    const double h = gigaflops<float, fixed16>(ctx, e, lanes, in_single);
    if (!speaks) continue;
    std::printf("%-20s %2d, %2d %14.1f %14.1f %14.1f\n", to_string(e).c_str(), in_double, in_single, d, s, h);
    std::fflush(stdout);
  }
}
