// Time and steps of the solvers on a quenched configuration, a point source:
//   bench_solvers [L] [beta] [workers] [kappa ...]     prints a table as CSV
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/solver/solver.hpp"

using namespace plaq;
using namespace plaq::lqcd;

int main(int argc, char** argv) {
  const int L = argc > 1 ? std::atoi(argv[1]) : 8;
  const double beta = argc > 2 ? std::atof(argv[2]) : 6.0;
  const int workers = argc > 3 ? std::atoi(argv[3]) : 1;
  std::vector<double> kappas;
  for (int i = 4; i < argc; ++i) kappas.push_back(std::atof(argv[i]));
  if (kappas.empty()) kappas = {0.15, 0.155};
  const comm::communicator self(comm::serial_wire());
  comm::messenger messages(self);
  comm::collectives collectives(self);
  const auto worker_group = make_workers("fiber", {.workers = workers});
  context ctx{*worker_group, messages, collectives};
  const auto layout = std::make_shared<site_layout>(lattice({L, L, L, L}), max_lanes<double>());
  links<double> gauge(layout);
  hot_start(gauge, 1);
  for (std::uint32_t sweep = 0; sweep < 100; ++sweep) {
    heat_bath(ctx, gauge, {beta}, {1, 0, sweep});
    over_relax(ctx, gauge);
  }
  spinors<double> eta(layout), psi(layout);
  eta.set(layout->locate({0, 0, 0, 0}), 0, 1.0);
  std::printf("L,beta,workers,kappa,method,precision,steps,updates,seconds,residual,end\n");
  for (const double kappa : kappas) {
    wilson<double> M(ctx, gauge, {.kappa = kappa, .theta = {1, 0, 0, 0}}, layout);
    solver inverse(M);
    const stopwatch setup;
    inverse.set_up({});
    std::printf("%d,%g,%d,%g,setup,single,,,%.4f,,\n", L, beta, workers, kappa, setup.seconds());
    for (const auto method : {solver_method::multigrid, solver_method::cg, solver_method::bicgstab})
      for (const auto steps : {precision::in_half, precision::in_single, precision::in_double}) {
        if (method == solver_method::multigrid && steps != precision::in_single) continue;
        double best = 1e300;
        solver_result result{};
        for (int repeat = 0; repeat < 3; ++repeat) {
          const stopwatch time;
          result = inverse.solve(psi, eta, {.method = method, .steps = steps, .residual = 1e-10, .max_steps = 20000});
          best = std::min(best, time.seconds());
        }
        std::printf("%d,%g,%d,%g,%s,%s,%d,%d,%.4f,%.2g,%s\n", L, beta, workers, kappa,
                    method == solver_method::cg         ? "cg"
                    : method == solver_method::bicgstab ? "bicgstab"
                                                        : "multigrid",
                    steps == precision::in_half     ? "half"
                    : steps == precision::in_single ? "single"
                                                    : "double",
                    result.steps, result.updates, best, result.residual,
                    result.reason == solver_result::stop_reason::converged ? "converged"
                    : result.reason == solver_result::stop_reason::stalled ? "stalled"
                                                                           : "out of steps");
        std::fflush(stdout);
      }
  }
}
