// What it costs to cut a field into more pieces than there are workers where nothing has to be balanced or
// hidden: a square of points on each rank, in one piece or in up to 32, which exchange their edges in every step.
//   [mpirun -n RANKS] bench_pieces [points on a side] [turns of the kernel on each point]
// Milliseconds of a step, the median of 21 runs of 20 steps that take turns, and how much more than in one piece, the
// median of what it is in each turn.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "factors.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;

namespace {

/// nx * ny points, x fastest, with a frame of those of others.
struct piece {
  std::vector<double> u, next;
  void serialize(archive& ar) { ar(u, next); }
};
constexpr int sides = 4;  // left, right, below, above

struct shape {
  int nx, ny;
  int at(int x, int y) const { return x + 1 + (nx + 2) * (y + 1); }
  /// The k-th point at a side: within, or in the frame.
  int edge(int side, int k, bool frame) const {
    if (side < 2) return at(side == 0 ? -int(frame) : nx - 1 + int(frame), k);
    return at(k, side == 2 ? -int(frame) : ny - 1 + int(frame));
  }
  int length(int side) const { return side < 2 ? ny : nx; }
};

void compute(piece& p, const shape& s, int turns) {
  for (int y = 0; y < s.ny; ++y)
    for (int x = 0; x < s.nx; ++x) {
      const int i = s.at(x, y), row = s.nx + 2;
      double v = 0.5 * p.u[i] + 0.125 * (p.u[i - 1] + p.u[i + 1] + p.u[i - row] + p.u[i + row]);
      for (int k = 0; k < turns; ++k) v = 3.6 * v * (1 - v);
      p.next[i] = v;
    }
  std::swap(p.u, p.next);
}

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all[all.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  const auto world = comm::world();
  const int n = count > 1 ? std::atoi(arguments[1]) : 512, turns = count > 2 ? std::atoi(arguments[2]) : 10;
  constexpr std::array pieces{1, 2, 4, 8, 16, 32};
  constexpr int steps = 20, runs = 21;
  std::array<std::vector<double>, pieces.size()> took, more;
  const index2 ranks = bench::factors(world.size());
  for (int run = 0; run < runs; ++run)
    for (std::size_t which = 0; which < pieces.size(); ++which)
      task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
        const index2 own = bench::factors(pieces[which]);
        const box mesh(index2{own.x * ranks.x, own.y * ranks.y}, true);
        const shape s{n / own.x, n / own.y};
        collection<piece, index2> field(
            "field", world, pool,
            homes_by_rule(mesh, [=](const index2& at, int) { return at.x / own.x + ranks.x * (at.y / own.y); }),
            [=](index2 at) {
              piece p{std::vector<double>(std::size_t((s.nx + 2) * (s.ny + 2)), 0.3 + 0.01 * (at.x + at.y)), {}};
              p.next = p.u;
              return p;
            },
            load::work);
        std::array halo{field.template make_port<std::vector<double>>("left"),
                        field.template make_port<std::vector<double>>("right"),
                        field.template make_port<std::vector<double>>("below"),
                        field.template make_port<std::vector<double>>("above")};
        const auto send = [=](piece& p, auto& context) {
          const auto [x, y] = context.index();
          const auto [ex, ey] = mesh.extent();
          const std::array to{index2{(x + ex - 1) % ex, y}, index2{(x + 1) % ex, y}, index2{x, (y + ey - 1) % ey},
                              index2{x, (y + 1) % ey}};
          for (int side = 0; side < sides; ++side) {
            std::vector<double> edge(std::size_t(s.length(side)));
            for (std::size_t k = 0; k < edge.size(); ++k) edge[k] = p.u[std::size_t(s.edge(side, int(k), false))];
            context.send(halo[std::size_t(side ^ 1)], to[std::size_t(side)], std::move(edge));
          }
        };
        const auto go = [&](int many) {
          for (int k = 0; k < many; ++k)
            field.each("step", {halo[0].of(1), halo[1].of(1), halo[2].of(1), halo[3].of(1)},
                       [=](piece& p, auto& context) {
                         for (int side = 0; side < sides; ++side) {
                           const auto came = context.take(halo[std::size_t(side)]);
                           for (std::size_t i = 0; i < came[0].value.size(); ++i)
                             p.u[std::size_t(s.edge(side, int(i), true))] = came[0].value[i];
                         }
                         compute(p, s, turns);
                         send(p, context);
                       });
          field.wait();
        };
        field.each("begin", send);
        go(2);
        const stopwatch watch;
        go(steps);
        took[which].push_back(1e3 * watch.seconds() / steps);
        more[which].push_back(100 * (took[which].back() / took[0].back() - 1));
      });
  if (world.rank() != 0) return 0;
  std::printf("%d ranks, %dx%d points each, %d turns\n", world.size(), n, n, turns);
  std::printf("%8s %8s %8s\n", "pieces", "ms", "more");
  for (std::size_t i = 0; i < pieces.size(); ++i)
    std::printf("%8d %8.3f %7.1f%%\n", pieces[i], median(took[i]), median(more[i]));
}
