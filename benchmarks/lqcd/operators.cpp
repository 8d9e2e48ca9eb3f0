// Time of operators on one rank, nanoseconds a site: processor time of all workers, wall time (blocks.hpp).
//   bench_operators [workers] [T X Y Z] [operator, such as clover]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "blocks.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/lqcd/dirac/doublet.hpp"
#include "plaq/lqcd/dirac/wilson.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"

using namespace plaq;
using namespace plaq::lqcd;

namespace {

template <class T>
void time_operators(context& ctx, const coordinates& extents, const std::string& only) {
  const char* precision = sizeof(T) == 8 ? "double" : "single";
  const auto layout = std::make_shared<site_layout>(lattice(extents), max_lanes<T>());
  links<double> gauge(std::make_shared<site_layout>(lattice(extents), max_lanes<double>()));
  hot_start(gauge, 1);
  spinors<T> a(layout), b(layout), odd(layout, sites::odd), out(layout, sites::odd);
  gaussian(a, 1), gaussian(odd, 1);
  const auto print = [&](const char* what, const block_times& t, int flavours = 1) {
    const double sites = 1e-9 * double(product(extents)) * flavours;
    std::printf("%s,%s,%.3f,%.3f\n", what, precision, t.processor / sites, t.wall / sites);
    std::fflush(stdout);
  };
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  ctx.workers.run("bench", [&] {
    if (wanted("hopping")) {
      hopping<T> H(ctx, apply_phases<T>(gauge, {}, layout));
      print("hopping", time_blocks([&] { H(b, a, 0), H(b, a, 1); }));
    }
    const struct {
      const char *name, *preconditioned;
      wilson_parameters p;
    } operators[] = {{"wilson", "wilson, even-odd", {.kappa = 0.12}},
                     {"twisted mass", "twisted mass, even-odd", {.kappa = 0.12, .mu = 0.1}},
                     {"clover", "clover, even-odd", {.kappa = 0.12, .csw = 1}}};
    for (const auto& [name, preconditioned, p] : operators) {
      if (!wanted(name)) continue;
      wilson<T> M(ctx, gauge, p, layout);
      print(name, time_blocks([&] { M.apply(b, a); }));
      print(preconditioned, time_blocks([&] { M.apply_odd(out, odd); }));
    }
    flavours<T> to{b, b}, from{a, a}, odd_to{out, out}, odd_from{odd, odd};
    for (const double csw : {0.0, 1.0}) {
      if (!wanted(csw == 0 ? "doublet" : "clover doublet")) continue;
      doublet<T> M(ctx, gauge, {.kappa = 0.12, .mu = 0.1, .epsilon = 0.05, .csw = csw}, layout);
      print(csw == 0 ? "doublet" : "clover doublet", time_blocks([&] { M.apply(to, from); }), 2);
      print(csw == 0 ? "doublet, even-odd" : "clover doublet, even-odd",
            time_blocks([&] { M.apply_odd(odd_to, odd_from); }), 2);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = argc > 1 ? std::atoi(argv[1]) : 1;
  coordinates extents{8, 8, 8, 8};
  for (int mu = 0; mu < 4 && mu + 2 < argc; ++mu) extents[mu] = std::atoi(argv[mu + 2]);
  const comm::communicator self(comm::serial_wire());
  comm::messenger messages(self);
  comm::collectives collectives(self);
  const auto worker_group = make_workers("fiber", {.workers = workers});
  context ctx{*worker_group, messages, collectives};
  const std::string only = argc > 6 ? argv[6] : "";
  time_operators<double>(ctx, extents, only);
  time_operators<float>(ctx, extents, only);
}
