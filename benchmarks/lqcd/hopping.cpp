// Speed of the hopping matrix at 1320 operations a site, on one rank:
//   bench_hopping [workers] [lanes] [T X Y Z ...]
#include "plaq/lqcd/hopping.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/lqcd/random_fields.hpp"

using namespace plaq;
using namespace plaq::lqcd;

namespace {

template <class T, class S = T>
double gigaflops(engine& by, const coordinates& extents, int lanes, int& used) {
  const auto where = std::make_shared<layout>(lattice(extents), lanes ? lanes : widest<T>());
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
      const stopwatch time;
      for (int i = 0; i < calls; ++i) H(b, a, 0), H(a, b, 1, {.c = T(0.1)});
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
  const comm::communicator self(comm::serial_wire());
  comm::messenger messages(self);
  comm::collectives together(self);
  const auto hands = make_workers("fiber", {.workers = workers});
  engine by{*hands, messages, together};
  std::printf("%-20s %6s %14s %14s %14s   Gflop/s, %d worker(s)\n", "lattice", "lanes", "double", "single",
              "16-bit links", workers);
  for (const auto& e : sizes) {
    int in_double = 0, in_single = 0;
    const double d = gigaflops<double>(by, e, lanes, in_double), s = gigaflops<float>(by, e, lanes, in_single);
    const double h = gigaflops<float, fixed16>(by, e, lanes, in_single);
    std::printf("%-20s %2d, %2d %14.1f %14.1f %14.1f\n", in_words(e).c_str(), in_double, in_single, d, s, h);
    std::fflush(stdout);
  }
}
