// The study of the hopping matrix, on one rank: every way of variants.hpp, on os, fiber and OpenMP, with each
// schedule:
//   bench_study [most workers] [T X Y Z ...]     prints a table as CSV
// A way that differs from the library's result ends the program with an error.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/lqcd/dirac/hopping.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "schedules.hpp"
#include "variants.hpp"

using namespace plaq;
using namespace plaq::lqcd;
using bench::schedule;
using bench::way;

namespace {

/// Gflop/s at 1320 operations a site, the best of some repeats.
template <class T>
double rate(way w, const bench::setting<T>& s, const schedule& schedule) {
  const double sites = double(s.layout->half()) * s.layout->lanes();
  const int calls = int(1 + 5e7 / (1320 * sites));
  double best = 0;
  schedule.inside([&] {
    for (int repeat = 0; repeat < 6; ++repeat) {
      const stopwatch time;
      for (int i = 0; i < calls; ++i)
        for (int sweep = bench::two_sweeps(w) ? 0 : 1; sweep < 2; ++sweep)
          schedule.run(s.layout->half(),
                       [&](std::int64_t begin, std::int64_t end) { bench::run(w, sweep, s, begin, end); });
      best = std::max(best, 1320e-9 * sites * calls / time.seconds());
    }
  });
  return best;
}

template <class T>
struct problem {
  std::shared_ptr<const site_layout> layout;
  links<T> gauge;
  hopping<T> H;
  field<T, 144> near;
  field<T, 96> halves;
  spinors<T> in, out, expected;
  bench::setting<T> set;

  problem(context& ctx, const coordinates& extents)
      : layout(std::make_shared<site_layout>(lattice(extents), max_lanes<T>())),
        gauge(start(layout)),
        H(ctx, gauge),
        near(bench::near_with_three_rows(gauge)),
        halves(layout, sites::even),
        in(layout),
        out(layout),
        expected(layout) {
    gaussian(in, 1);
    H(expected, in, 0);
    auto args = H.kernel_args(in, 0, false);
    args.out = out.of(0);
    set = {layout.get(), 0, {gauge.of(0), gauge.of(1)}, near.data(), args, halves.data()};
  }
  static links<T> start(const std::shared_ptr<const site_layout>& layout) {
    links<T> u(layout);
    hot_start(u, 1);
    return u;
  }
  double error() const {
    double worst = 0;
    for (std::size_t i = 0; i < out.size() / 2; ++i)
      worst = std::max(worst, std::abs(double(out.of(0)[i]) - double(expected.of(0)[i])));
    return worst;
  }
};

template <class T>
bool measure(context& ctx, const coordinates& extents, const std::vector<schedule>& all, int workers) {
  problem<T> p(ctx, extents);
  for (const way w : bench::ways)
    for (const auto& s : all) {
      std::fill_n(p.out.of(0), p.out.size() / 2, T(0));
      const double gigaflops = rate<T>(w, p.set, s), error = p.error();
      std::printf("%s,%s,%s,%s,%s,%d,%.2f\n", to_string(extents).c_str(), sizeof(T) == 8 ? "double" : "single",
                  bench::name_of(w), s.threads.c_str(), s.name.c_str(), workers, gigaflops);
      std::fflush(stdout);
      if (!(error < (sizeof(T) == 8 ? 1e-12 : 1e-3)))
        return std::fprintf(stderr, "%s is wrong by %g\n", bench::name_of(w), error), false;
    }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int most = argc > 1 ? std::atoi(argv[1]) : 2;
  std::vector<coordinates> sizes;
  for (int i = 2; i + 3 < argc; i += 4)
    sizes.push_back({std::atoi(argv[i]), std::atoi(argv[i + 1]), std::atoi(argv[i + 2]), std::atoi(argv[i + 3])});
  if (sizes.empty()) sizes = {{8, 8, 8, 8}, {16, 16, 16, 16}};
  const comm::communicator self(comm::serial_wire());
  comm::messenger messages(self);
  comm::collectives collectives(self);
  const auto worker_group = make_workers("fiber", {.workers = 1});
  context ctx{*worker_group, messages, collectives};
  std::printf("lattice,precision,way,threads,schedule,workers,gflops\n");
  for (int workers = 1; workers <= most; ++workers) {
    const bench::schedules by_threads(workers);
    for (const auto& extents : sizes)
      if (!measure<double>(ctx, extents, by_threads.all(), workers) ||
          !measure<float>(ctx, extents, by_threads.all(), workers))
        return 1;
  }
}
