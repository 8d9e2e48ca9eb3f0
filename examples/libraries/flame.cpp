// Flame in a plate, as a collection of patches that move to ranks with less work.
//   mpirun -n 4 flame [points along a side [steps]]
#include "flame.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "plaq/collection/collection.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/task/task.hpp"

namespace {

constexpr int patches_along = 16;

/// Part of the plate.
struct patch {
  int x0 = 0, y0 = 0;
  grid now, next;
  void serialize(plaq::archive& ar) { ar(x0, y0, now.nx, now.ny, now.points, next.nx, next.ny, next.points); }
};

patch first(plaq::index2 at, int n) {
  patch p{first_of(at.x, patches_along, n), first_of(at.y, patches_along, n), {}, {}};
  p.now = p.next = grid(first_of(at.x + 1, patches_along, n) - p.x0, first_of(at.y + 1, patches_along, n) - p.y0);
  fill(p.now, p.x0, p.y0, n);
  return p;
}

/// Calls use(inside, outside) for the points at the side that faces `shift`, and the ghosts beyond.
template <class Use>
void along_side(grid& g, plaq::index2 shift, Use use) {
  if (shift.x != 0)
    for (int y = 0, x = shift.x < 0 ? 0 : g.nx - 1; y < g.ny; ++y) use(g.at(x, y), g.at(x + shift.x, y));
  else
    for (int x = 0, y = shift.y < 0 ? 0 : g.ny - 1; x < g.nx; ++x) use(g.at(x, y), g.at(x, y + shift.y));
}

template <class Pool>
void run(Pool& pool, const plaq::comm::communicator& world, int n, int steps) {
  const plaq::box plate(plaq::index2{patches_along, patches_along});
  plaq::collection<patch, plaq::index2> patches("patches", world, pool, plaq::hilbert_homes(plate),
                                                [=](plaq::index2 at) { return first(at, n); });
  const auto side = patches.template make_port<std::vector<point>>("side");
  const auto neighbours = [=](plaq::index2 at) { return plate.faces(at).size(); };
  for (int k = 0; k < steps; ++k) {
    patches.each("send", [=](patch& p, auto& context) {
      for (const auto& [to, shift] : plate.faces(context.index())) {
        std::vector<point> points;
        along_side(p.now, shift, [&](const point& inside, point&) { points.push_back(inside); });
        context.send(side, to, std::move(points));
      }
    });
    patches.each("step", side.of(neighbours), [=](patch& p, auto& context) {
      const plaq::index2 here = context.index();
      for (const auto& [from, points] : context.take(side)) {
        auto next = points.begin();
        along_side(p.now, {from.x - here.x, from.y - here.y}, [&](point&, point& ghost) { ghost = *next++; });
      }
      step(p.now, p.next, 0.05);
      std::swap(p.now, p.next);
    });
    if (k % 50 == 49) {
      auto t = patches.reduce(
          "hottest", [](const patch& p) { return hottest(p.now); }, [](double a, double b) { return std::max(a, b); });
      const auto came_to = patches.balance({.by = "hilbert_refine"}).get();
      const double now_hottest = t.get();
      if (world.rank() == 0)
        std::printf("step %d: hottest %.6f, imbalance %.2f, then %.2f\n", k + 1, now_hottest, came_to.before,
                    came_to.predicted);
    }
  }
  auto bits = patches.reduce("bits", [=](const patch& p) { return bits_of(p.now, p.x0, p.y0, n); }, std::plus<>());
  patches.wait();
  const auto all = bits.get();
  if (world.rank() == 0) std::printf("bits %016" PRIx64 "\n", all);
}

}  // namespace

int main(int count, char** arguments) try {
  const int n = count > 1 ? std::atoi(arguments[1]) : 128, steps = count > 2 ? std::atoi(arguments[2]) : 100;
  const auto world = plaq::comm::world();
  plaq::task::with_backend("fiber", {}, [&](auto& pool) { run(pool, world, n, steps); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "flame: %s\n", error.what());
  return 1;
}
