// The plate case: particles leave the left side of a box, so that elements beside it have most to do. Elements
// sleep for as long as they would compute, so that a few cores stand for many ranks; what is measured is what
// balancing makes of it.
//   mpirun -n RANKS bench_plate [by] [milliseconds a step]
// For 8, 16 and 32 elements a rank: milliseconds of a step where nothing moves, and after balancings; the optimum
// is the mean load. Each number is the median of several phases of 5 steps.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/task/task.hpp"
#include "sleeping.hpp"

using namespace plaq;

namespace {

struct cell {
  std::vector<double> particles = std::vector<double>(1000);
  void serialize(archive& ar) { ar(particles); }
};

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all[all.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  const auto world = comm::world();
  const std::string by = count > 1 ? arguments[1] : "greedy_refine";
  const double wanted = 1e-3 * (count > 2 ? std::atof(arguments[2]) : 40);  // a step, with all ranks alike
  const bool speaks = world.rank() == 0;
  constexpr int steps = 5, phases = 5;
  if (speaks)
    std::printf("%d ranks, by %s, optimum %.1f ms a step\n%4s %8s %8s %9s %9s %9s %9s %10s\n", world.size(), by.c_str(),
                1e3 * wanted, "od", "static", "balanced", "observed", "predicted", "floor", "before", "balancing");
  for (const int od : {8, 16, 32})
    task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
      const box mesh(index2{od, world.size()});
      const auto plume = [&](index2 at) {
        const double x = double(at.x) / od, y = (at.y + 0.5) / world.size() - 0.5;
        return 0.1 + 3 * std::exp(-4 * x) * std::exp(-6 * y * y);
      };
      double all = 0;
      for (int y = 0; y < world.size(); ++y)
        for (int x = 0; x < od; ++x) all += plume({x, y});
      const double unit = wanted * world.size() / all;
      collection<cell, index2> cells(
          "cells", world, pool, hilbert_homes(mesh), [](index2) { return cell{}; }, load::work);
      auto halo = cells.make_port<double>("halo");
      const auto phase = [&] {
        const stopwatch watch;
        for (int n = 0; n < steps; ++n) {
          cells.each("push", [=](cell&, auto& context) {
            const double seconds = unit * plume(context.index());
            context.work(seconds);
            bench::be_busy(seconds);
            for (const auto& to : mesh.faces(context.index())) context.send(halo, to.at, seconds);
          });
          cells.each("receive", halo.of([=](index2 at) { return mesh.faces(at).size(); }),
                     [=](cell&, auto& context) { context.take(halo); });
        }
        cells.wait();
        return 1e3 * watch.seconds() / steps;
      };
      std::vector<double> fixed, moved, cost;
      for (int n = 0; n < 3; ++n) fixed.push_back(phase());
      balance_result first{}, last{};
      for (int n = 0; n < phases; ++n) {
        const stopwatch watch;
        last = cells.balance({.by = by}).get();
        cells.wait();
        cost.push_back(1e3 * watch.seconds() / steps);
        if (n == 0) first = last;
        moved.push_back(phase());
      }
      if (speaks) {
        const double observed = median(moved) / (1e3 * wanted) - 1;
        std::printf("%4d %8.1f %8.1f %8.1f%% %8.1f%% %8.1f%% %8.1f%% %9.2f%%\n", od, median(fixed), median(moved),
                    100 * observed, 100 * first.predicted, 100 * first.floor, 100 * first.before,
                    100 * median(cost) / median(moved));
      }
    });
}
