// The study of the hopping matrix, on one rank: every way of variants.hpp, on os, fiber and OpenMP, with each
// schedule:
//   bench_study [most workers] [T X Y Z ...]     prints a table as CSV
// A way that differs from the library's result ends the program with an error.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/lqcd/hopping.hpp"
#include "plaq/lqcd/random_fields.hpp"
#include "plaq/task/backends.hpp"
#include "plaq/task/parallel_for.hpp"
#include "variants.hpp"
#ifdef _OPENMP
#include <omp.h>
#endif

using namespace plaq;
using namespace plaq::lqcd;
using bench::way;

namespace {

/// Calls body(begin, end) on parts of [0, n).
using loop = std::function<void(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body)>;
struct schedule {
  std::string threads, name;
  loop run;
};

constexpr std::int64_t grain = 16;  // blocks in the smallest part

template <class Pool>
void add_schedules(std::vector<schedule>& all, Pool& pool, const std::string& threads) {
  const auto with = [&](const char* name, task::sharing how) {
    all.push_back({threads, name, [&pool, how](std::int64_t n, const auto& body) {
                     const auto pieces = (n + grain - 1) / grain;
                     task::parallel_for(pool, "hop", std::int64_t(0), pieces,
                                        [&](std::int64_t p) { body(n * p / pieces, n * (p + 1) / pieces); },
                                        {.sharing = how});
                   }});
  };
  with("static", task::sharing::static_);
  with("dynamic", task::sharing::dynamic);
  with("guided", task::sharing::guided);
  // A task for each part: who has none takes one from others.
  all.push_back({threads, "stealing", [&pool](std::int64_t n, const auto& body) {
                   const std::int64_t pieces = std::min<std::int64_t>(n, 8 * pool.workers());
                   std::vector<task::future<void>> parts;
                   for (std::int64_t p = 0; p < pieces; ++p)
                     parts.push_back(pool.async("hop", [&, p] { body(n * p / pieces, n * (p + 1) / pieces); }));
                   for (auto& part : parts) part.get();
                 }});
}

#ifdef _OPENMP
void add_openmp(std::vector<schedule>& all, int workers) {
  const auto with = [&](const char* name, omp_sched_t how) {
    all.push_back({"openmp", name, [how, workers](std::int64_t n, const auto& body) {
                     const auto pieces = (n + grain - 1) / grain;
                     omp_set_schedule(how, 0);
#pragma omp parallel for schedule(runtime) num_threads(workers)
                     for (std::int64_t p = 0; p < pieces; ++p) body(n * p / pieces, n * (p + 1) / pieces);
                   }});
  };
  with("static", omp_sched_static);
  with("dynamic", omp_sched_dynamic);
  with("guided", omp_sched_guided);
}
#endif

/// Gflop/s at 1320 operations a site, the best of some repeats.
template <class T>
double rate(way w, const bench::setting<T>& s, const loop& run) {
  const double sites = double(s.where->half()) * s.where->lanes();
  const int calls = int(1 + 5e7 / (1320 * sites));
  double best = 0;
  for (int repeat = 0; repeat < 6; ++repeat) {
    const stopwatch time;
    for (int i = 0; i < calls; ++i)
      for (int sweep = bench::two_sweeps(w) ? 0 : 1; sweep < 2; ++sweep)
        run(s.where->half(), [&](std::int64_t begin, std::int64_t end) { bench::run(w, sweep, s, begin, end); });
    best = std::max(best, 1320e-9 * sites * calls / time.seconds());
  }
  return best;
}

template <class T>
struct problem {
  std::shared_ptr<const layout> where;
  links<T> gauge;
  hopping<T> H;
  field<T, 144> near;
  field<T, 96> halves;
  spinors<T> in, out, expected;
  bench::setting<T> set;

  problem(engine& by, const coordinates& extents)
      : where(std::make_shared<layout>(lattice(extents), widest<T>())),
        gauge(start(where)),
        H(by, gauge),
        near(bench::near_with_three_rows(gauge)),
        halves(where, sites::even),
        in(where),
        out(where),
        expected(where) {
    gaussian(in, 1);
    H(expected, in, 0);
    auto work = H.work(in, 0, false);
    work.out = out.of(0);
    set = {where.get(), 0, {gauge.of(0), gauge.of(1)}, near.data(), work, halves.data()};
  }
  static links<T> start(const std::shared_ptr<const layout>& where) {
    links<T> u(where);
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
bool measure(engine& by, const coordinates& extents, const std::vector<schedule>& all, int workers) {
  problem<T> p(by, extents);
  for (const way w : bench::ways)
    for (const auto& s : all) {
      std::fill_n(p.out.of(0), p.out.size() / 2, T(0));
      const double found = rate<T>(w, p.set, s.run), error = p.error();
      std::printf("%s,%s,%s,%s,%s,%d,%.2f\n", in_words(extents).c_str(), sizeof(T) == 8 ? "double" : "single",
                  bench::name_of(w), s.threads.c_str(), s.name.c_str(), workers, found);
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
  comm::collectives together(self);
  const auto hands = make_workers("fiber", {.workers = 1});
  engine by{*hands, messages, together};
  std::printf("lattice,precision,way,threads,schedule,workers,gflops\n");
  for (int workers = 1; workers <= most; ++workers) {
    std::vector<schedule> all;
    task::fiber::pool fibers({.workers = workers});
    task::os::pool kernel({.workers = workers});
    if (workers == 1) {
      all.push_back({"none", "none", [](std::int64_t n, const auto& body) { body(0, n); }});
    } else {
      add_schedules(all, fibers, "fiber");
      add_schedules(all, kernel, "os");
#ifdef _OPENMP
      add_openmp(all, workers);
#endif
    }
    for (const auto& extents : sizes)
      if (!measure<double>(by, extents, all, workers) || !measure<float>(by, extents, all, workers)) return 1;
  }
}
