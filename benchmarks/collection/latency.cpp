// More elements than ranks where messages take long: a rank that has several computes one while the messages of
// another travel. A mesh whose elements talk to their four neighbours and sleep as long as they would compute; a
// rank's elements have the same work together, however many they are. One worker a rank, between hosts:
//   sudo python benchmarks/comm/hosts.py --hosts 4 --ranks-per-host 1 --delay-us 10000 --mbit 10000 bench_latency
// [milliseconds a step [FOLDER [elements a rank]]]: a trace of that many elements is written to the folder.
// Milliseconds of a step of an element, the median over elements.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "factors.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/wire/clock_offset.hpp"
#include "plaq/task/task.hpp"
#include "plaq/trace/session.hpp"
#include "sleeping.hpp"

using namespace plaq;

namespace {

struct cell {
  double u = 1;
  std::vector<double> ended = {};  ///< when its steps did
  void serialize(archive& ar) { ar(u, ended); }
};

}  // namespace

int main(int count, char** arguments) {
  const auto world = comm::world();
  const double work = 1e-3 * (count > 1 ? std::atof(arguments[1]) : 20);
  const std::string folder = count > 2 ? arguments[2] : "";
  const bool traced = !folder.empty(), speaks = world.rank() == 0;
  std::vector<int> each{1, 2, 4, 8, 16, 32};
  if (traced) each = {count > 3 ? std::atoi(arguments[3]) : 8};
  const int steps = traced ? 8 : 24;
  std::unique_ptr<trace::session> session;
  if (traced) {
    comm::collectives all(world);
    session = std::make_unique<trace::session>(trace::session_options{.folder = folder, .rank = world.rank()});
    const auto offset = comm::measure_clock_offset(world);
    session->set_clock_offset(offset.seconds, offset.error);
    all.barrier();
  }
  if (speaks)
    std::printf("%d ranks, %.1f ms of work a step\n%10s %8s %8s\n", world.size(), 1e3 * work, "elements", "ms", "over");
  const index2 ranks = bench::factors(world.size());
  for (const int od : each)
    task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
      const index2 own = bench::factors(od);
      const box mesh(index2{own.x * ranks.x, own.y * ranks.y}, true);
      collection<cell, index2> cells(
          "cells", world, pool,
          homes_by_rule(mesh, [=](const index2& at, int) { return at.x / own.x + ranks.x * (at.y / own.y); }),
          [](index2) { return cell{}; }, load::work);
      auto halo = cells.make_port<double>("halo");
      const stopwatch watch;
      const auto step = [=, &watch](cell& c, auto& context) {
        bench::be_busy(work / od);
        c.ended.push_back(watch.seconds());
        for (const auto& to : mesh.faces(context.index())) context.send(halo, to.at, c.u);
      };
      cells.each("compute", step);
      for (int n = 1; n < steps; ++n)
        cells.each("compute", halo.of(4), [=](cell& c, auto& context) {
          double sum = 0;
          for (const auto& [from, u] : context.take(halo)) sum += u;
          c.u = 0.2 * (c.u + sum);
          step(c, context);
        });
      cells.each("end", halo.of(4), [=](cell&, auto& context) { context.take(halo); });
      auto all = cells.gather("ended", [](const cell& c) { return c.ended; });
      cells.wait();
      // Of every element, from when the mesh has filled: the mean step.
      std::vector<double> means;
      for (const auto& [at, ended] : all.get())
        means.push_back(1e3 * (ended.back() - ended[ended.size() / 4]) / double(ended.size() - 1 - ended.size() / 4));
      if (speaks) {
        std::ranges::sort(means);
        const double ms = means[means.size() / 2];
        std::printf("%10d %8.2f %7.1f%%\n", od, ms, 100 * (ms / (1e3 * work) - 1));
        std::fflush(stdout);
      }
    });
}
