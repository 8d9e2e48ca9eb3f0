// What threads cost in the force of the hopping matrix, on one rank:
//   bench_forces [most workers] [T X Y Z ...]     prints a table as CSV
// ways of force_ways.hpp on os, fiber and OpenMP with each schedule, in microseconds a call, and how many of 20 sums of
// eight calls had the bits of the first; the loop without work (fork), and two in turn (barrier).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "force_ways.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/lqcd/dirac/hopping.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "schedules.hpp"

using namespace plaq;
using namespace plaq::lqcd;
using bench::force_way;

namespace {

constexpr int parts_each = 16;  // pieces of the lattice for each worker, as those of the schedules

template <class F>
double microseconds(F&& call) {
  call();
  double best = 1e300;
  for (int repeat = 0; repeat < 10; ++repeat) {
    const stopwatch time;
    for (int i = 0; i < 8; ++i) call();
    best = std::min(best, 1e6 * time.seconds() / 8);
  }
  return best;
}

struct problem {
  std::shared_ptr<const site_layout> layout;
  links<double> gauge, out, expected;
  spinors<double> X, Y;
  std::unique_ptr<hopping<double>> H;
  bench::force_setting set;

  problem(context& ctx, const coordinates& extents)
      : layout(std::make_shared<site_layout>(lattice(extents), max_lanes<double>())),
        gauge(layout),
        out(layout),
        expected(layout),
        X(layout),
        Y(layout) {
    hot_start(gauge, 1);
    gaussian(X, 1), gaussian(Y, 2);
    H = std::make_unique<hopping<double>>(ctx, gauge);
    H->derivative(expected, X, Y);
    set = {H->kernel_args(X, 0, false), X.data(), Y.data(), out.data()};
  }
  void clear() { std::fill_n(out.data(), out.size(), 0.0); }
  double error() const {
    double worst = 0;
    for (std::size_t i = 0; i < out.size(); ++i) worst = std::max(worst, std::abs(out.data()[i] - expected.data()[i]));
    return worst;
  }
};

bool measure(problem& p, const char* lattice_name, const bench::schedule& s, int workers) {
  auto pieces = bench::pieces_of(*p.layout, parts_each * workers);
  const auto row = [&](const char* way, double time, int same) {
    std::printf("%s,%s,%s,%s,%d,%.1f,%d\n", lattice_name, way, s.threads.c_str(), s.name.c_str(), workers, time, same);
    std::fflush(stdout);
  };
  const auto over_pieces = [&](auto&& f) {
    s.run(bench::grain * std::int64_t(pieces.size()), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin / bench::grain; k < end / bench::grain; ++k) f(pieces[std::size_t(k)]);
    });
  };
  const auto nothing = [](const bench::force_piece&) {};
  row("fork", microseconds([&] { over_pieces(nothing); }), 20);
  row("barrier", microseconds([&] { over_pieces(nothing), over_pieces(nothing); }), 20);
  for (const force_way w : bench::force_ways) {
    if (w == force_way::push && workers > 1) continue;  // would be a race
    const auto call = [&] {
      over_pieces([&](bench::force_piece& piece) { bench::add_force(w, p.set, piece); });
      if (w == force_way::halo) over_pieces([&](const bench::force_piece& piece) { bench::add_halo(p.set, piece); });
    };
    p.clear();
    call();
    if (!(p.error() < 1e-11)) return std::fprintf(stderr, "%s is wrong by %g\n", bench::name_of(w), p.error()), false;
    int same = 0;
    std::vector<double> first;
    for (int run = 0; run < 20; ++run) {
      p.clear();
      for (int i = 0; i < 8; ++i) call();
      if (first.empty()) first.assign(p.out.data(), p.out.data() + p.out.size());
      same += std::equal(first.begin(), first.end(), p.out.data());
    }
    row(bench::name_of(w), microseconds(call), same);
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
  std::printf("lattice,way,threads,schedule,workers,microseconds,same_bits\n");
  for (const auto& extents : sizes) {
    problem p(ctx, extents);
    for (int workers = 1; workers <= most; ++workers)
      for (const bench::schedules by_threads(workers); const auto& s : by_threads.all()) {
        bool right = true;
        s.inside([&] { right = measure(p, to_string(extents).c_str(), s, workers); });
        if (!right) return 1;
      }
  }
}
