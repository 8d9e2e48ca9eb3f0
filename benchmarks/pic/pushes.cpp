// Pushes a second of one core: whole steps of a warm, uniform, periodic plasma (fields, gather, push, current,
// sort, exchange between patches, record), by the processor time of the process, the best of several samples; and
// of these the parts of the particles. u_th = 0.1, dt = 0.95 of the Courant limit, cells of 0.1 c/w_p. With
// WORKERS above 1 also how much faster these are than one, by the clock on the wall.
//   bench_pushes-SET [DIMENSIONS [CELLS [PATCHES [STEPS [WORKERS]]]]]      cells and patches per dimension
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/plasma.hpp"

using namespace plaq;
using namespace plaq::pic;

namespace {

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

plan uniform(int dimensions, int order, int cells, int patches) {
  plan p;
  p.dimensions = dimensions, p.order = order;
  for (int d = 0; d < dimensions; ++d) p.cells[d] = cells, p.patches[d] = patches, p.lengths[d] = 0.1 * cells;
  p.dt = 0.95 * p.courant();
  p.species_list = {{"electrons", -1, 1, pusher::boris}};
  return p;
}

std::unique_ptr<plasma> warm(const plan& p, bool single, int per_cell, int workers) {
  auto s = make_plasma(p, comm::communicator(comm::serial_wire()),
                       {.backend = "fiber", .pool = {.workers = workers}, .single = single});
  for (const int patch : s->local_patches()) {
    const auto x = make_positions(p, s->mesh(patch), 0, per_cell, false);
    const std::size_t n = x.size() / std::size_t(p.dimensions);
    const std::vector<double> w(n, p.cell_volume() / per_cell), drift(3 * n), thermal(3 * n, 0.1);
    s->load(patch, 0, {x, w, drift, thermal, false});
  }
  s->start();
  s->advance(2, false);
  return s;
}

/// Seconds of a step, the least of the samples: of processor time, and by the wall's clock.
std::pair<double, double> of_whole_steps(const plan& p, bool single, int per_cell, int steps, int workers) {
  const auto s = warm(p, single, per_cell, workers);
  std::pair best{1e9, 1e9};
  for (int sample = 0; sample < 5; ++sample) {
    const double begin = processor_time();
    const stopwatch watch;
    s->advance(steps, false);
    best = {std::min(best.first, (processor_time() - begin) / steps), std::min(best.second, watch.seconds() / steps)};
  }
  return best;
}

/// Of one patch of 32 cells a side: nanoseconds for each particle of its step, and of sorting it.
std::pair<double, double> of_parts(const plan& p, auto precision, int per_cell) {
  using T = decltype(precision);
  patch<T> self(p, {});
  const auto x = make_positions(p, self.mesh, 0, per_cell, false);
  const std::size_t n = x.size() / std::size_t(p.dimensions);
  const std::vector<double> w(n, p.cell_volume() / per_cell), drift(3 * n), thermal(3 * n, 0.1);
  pic::load(p, self, 0, {x, w, drift, thermal, false});
  double step = 1e9, sort = 1e9;
  for (int sample = 0; sample < 30; ++sample) {
    auto all = self.species[0];
    crossing crossed;
    double begin = processor_time();
    sort_by_cell(self.mesh, all);
    begin = processor_time();
    advance(self.mesh, p.order, {.charge_per_mass = -1, .charge = -1}, self.f, all, crossed);
    step = std::min(step, processor_time() - begin);
    for (int d = 0; d < p.dimensions; ++d)
      for (auto& cell : all.cell[std::size_t(d)]) cell = std::clamp(cell, 0, self.mesh.cells[std::size_t(d)] - 1);
    begin = processor_time();
    sort_by_cell(self.mesh, all);
    sort = std::min(sort, processor_time() - begin);
  }
  return {1e9 * step / double(n), 1e9 * sort / double(n)};
}

}  // namespace

int main(int count, char** arguments) {
  const auto given = [&](int at, int otherwise) { return count > at ? std::atoi(arguments[at]) : otherwise; };
  const int dimensions = given(1, 2), cells = given(2, 64), patches = given(3, 2), steps = given(4, 20),
            workers = given(5, 1);
  std::printf("%dD, %d cells and %d patches a side\n", dimensions, cells, patches);
  std::printf("order precision per_cell   M pushes/s    ns/push   of them particles, sort   %d workers over 1\n",
              workers);
  for (const auto& [order, single] : {std::pair(1, true), std::pair(1, false), std::pair(2, true), std::pair(2, false)})
    for (const int per_cell : {16, 64, 256, 1024}) {
      if (std::pow(cells, dimensions) * per_cell > 3e7) continue;
      const plan p = uniform(dimensions, order, cells, patches);
      const plan one = uniform(dimensions, order, cells / patches, 1);
      const int some = std::max(2, steps * 16 / per_cell);
      const auto [processor, wall] = of_whole_steps(p, single, per_cell, some, 1);
      const double faster = workers > 1 ? wall / of_whole_steps(p, single, per_cell, some, workers).second : 1;
      const double seconds = processor / (std::pow(cells, dimensions) * per_cell);
      const auto [step, sort] = single ? of_parts(one, float(), per_cell) : of_parts(one, double(), per_cell);
      std::printf("%5d %9s %8d %12.1f %10.1f %12.1f %8.1f %12.2f\n", order, single ? "single" : "double", per_cell,
                  1e-6 / seconds, 1e9 * seconds, step, sort, faster);
      std::fflush(stdout);
    }
}
