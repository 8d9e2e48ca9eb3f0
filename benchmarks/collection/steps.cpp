// What a step of an element costs that does nothing but talk to its neighbours: processor time of all threads, the
// least of 9, in nanoseconds per element and step; so others on the machine disturb little.
//   [mpirun -n RANKS] bench_collection [WORKERS]
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "plaq/collection/collection.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;

namespace {

struct cell {
  double u = 1;
  long sum = 0;
};

/// Of this process, in nanoseconds.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * double(now.tv_sec) + double(now.tv_nsec);
}

/// Of `steps` steps of all elements.
template <class Steps>
double nanoseconds(collection<cell, index2>& cells, double elements, int steps, Steps&& run) {
  std::vector<double> times;
  for (int sample = 0; sample < 9; ++sample) {
    cells.wait();
    const double start = processor_time();
    run();
    cells.wait();
    times.push_back(processor_time() - start);
  }
  return std::ranges::min(times) / elements / steps;
}

}  // namespace

int main(int count, char** arguments) {
  const auto world = comm::world();
  const int workers = count > 1 ? std::atoi(arguments[1]) : 1;
  const bool speaks = world.rank() == 0;
  if (speaks)
    std::printf("%d ranks of %d workers\n%30s %8s %8s %8s\n", world.size(), workers, "", "16x16", "64x64", "256x256");
  const auto line = [&](const char* what, load of, auto steps, bool apart = false) {
    if (speaks) std::printf("%30s", what);
    for (const int n : {16, 64, 256})
      task::with_backend("fiber", {.workers = workers}, [&](auto& pool) {
        const box mesh(index2{n, n}, true);
        const auto in_turn = [](const index2& at, int ranks) { return at.x % ranks; };
        const auto homes = apart ? homes_by_rule(mesh, in_turn) : hilbert_homes(mesh);
        collection<cell, index2> cells("cells", world, pool, homes, [](index2) { return cell{}; }, of);
        auto halo = cells.make_port<double>("halo");
        const int many = std::max(4, 200000 / (n * n));
        const double ns =
            nanoseconds(cells, double(n) * n / world.size(), many, [&] { steps(cells, halo, mesh, many); });
        if (speaks) std::printf(" %8.0f", ns), std::fflush(stdout);
      });
    if (speaks) std::printf("\n");
  };
  const auto nothing = [](auto& cells, auto&, auto&, int many) {
    for (int k = 0; k < many; ++k) cells.each("nothing", [](cell&) {});
  };
  // To so many of the four neighbours.
  const auto talk = [](int partners) {
    return [=](auto& cells, auto& halo, const auto& mesh, int many) {
      const auto send = [=](cell& c, auto& context) {
        const auto at = context.index();
        if (partners == 1) return context.send(halo, index2{(at.x + 1) % mesh.extent().x, at.y}, c.u);
        for (const auto& to : mesh.faces(at)) context.send(halo, to.at, c.u);
      };
      const auto take = [=](cell& c, auto& context) {
        for (const auto& [from, u] : context.take(halo)) c.sum += long(u);
      };
      cells.each("send", send);
      for (int k = 1; k < many; ++k)
        cells.each("talk", halo.of(std::size_t(partners)), [=](cell& c, auto& context) {
          take(c, context);
          send(c, context);
        });
      cells.each("take", halo.of(std::size_t(partners)), take);
    };
  };
  const auto reduce = [](auto& cells, auto&, auto&, int many) {
    for (int k = 0; k < many; ++k) (void)cells.reduce("sum", [](const cell& c) { return c.u; }, std::plus<>());
  };
  const auto move = [](auto& cells, auto&, auto&, int many) {
    for (int k = 0; k < many; ++k)
      cells.each("move", [p = cells.size()](cell&, auto& context) { context.move_to((context.rank() + 1) % p); });
  };
  line("nothing", load::work, nothing);
  line("nothing, time measured", load::time, nothing);
  line("send 1, take 1", load::work, talk(1));
  line("send 4, take 4", load::work, talk(4));
  line("reduce", load::work, reduce);
  if (world.size() == 1) return 0;
  line("send 1 to another rank, take 1", load::work, talk(1), true);
  line("move", load::work, move);
}
