// Heat in a plate of 8 x 8 patches, the left of which are resolved finer and take longer: patches are elements of a
// collection, which balances them. The heat has the same bits for any number of ranks and workers.
//   heat [BACKEND [WORKERS]]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "plaq/collection/collection.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/task/task.hpp"

namespace {

constexpr int steps = 60;

/// The mean temperature of the patch, and how often it has to be computed in a step.
struct patch {
  double t = 0;
  int sub_steps = 1;
};

patch first(plaq::index2 at) { return {at.x == 4 && at.y == 4 ? 64.0 : 0.0, at.x < 2 ? 20 : 1}; }

}  // namespace

int main(int count, char** arguments) try {
  const char* backend = count > 1 ? arguments[1] : "fiber";
  const int workers = count > 2 ? std::atoi(arguments[2]) : 2;
  const auto world = plaq::comm::world();
  const plaq::box plate(plaq::index2{8, 8});

  plaq::task::with_backend(backend, {.workers = workers}, [&](auto& pool) {
    plaq::collection<patch, plaq::index2> patches("patches", world, pool, plaq::hilbert_homes(plate), first,
                                                  plaq::load::work);
    const auto edge = patches.make_port<double>("edge");
    const auto borders = [=](plaq::index2 at) { return plate.faces(at).size(); };
    for (int n = 0; n < steps; ++n) {
      patches.each("send", [=](const patch& p, auto& context) {
        for (const auto& to : plate.faces(context.index())) context.send(edge, to.at, p.t);
      });
      patches.each("diffuse", edge.of(borders), [=](patch& p, auto& context) {
        double flow = 0;
        for (const auto& [from, t] : context.take(edge)) flow += t - p.t;
        for (int i = 0; i < p.sub_steps; ++i) p.t += 0.1 / p.sub_steps * flow;
        context.work(p.sub_steps);
      });
      if (n % 20 == 19) {
        const auto came_to = patches.balance({.by = "hilbert_refine"}).get();
        if (world.rank() == 0)
          std::printf("step %d: imbalance %.3f, then %.3f, %g patches moved\n", n + 1, came_to.before,
                      came_to.predicted, came_to.moved);
      }
    }
    auto all = patches.reduce("all", [](const patch& p) { return p.t; }, std::plus<>());
    auto centre = patches.reduce(
        "centre", [](const patch& p, plaq::index2 at) { return at == plaq::index2{4, 4} ? p.t : 0.0; }, 0.0,
        std::plus<>());
    patches.wait();
    if (world.rank() == 0)
      std::printf("heat %.12g, centre %.17g, on %d ranks\n", all.get(), centre.get(), world.size());
  });
} catch (const plaq::input_error& error) {
  std::fprintf(stderr, "heat: %s\n", error.what());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "heat: %s\n", error.what());
  return 1;
}
