// Time and steps of the solvers on a quenched configuration, a point source:
//   bench_solvers [L] [beta] [workers] [kappa ...]     prints a table as CSV
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "plaq/base/stopwatch.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/lqcd/gauge.hpp"
#include "plaq/lqcd/random_fields.hpp"
#include "plaq/lqcd/solver.hpp"

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
  comm::collectives together(self);
  const auto hands = make_workers("fiber", {.workers = workers});
  engine by{*hands, messages, together};
  const auto where = std::make_shared<layout>(lattice({L, L, L, L}), widest<double>());
  links<double> gauge(where);
  hot_start(gauge, 1);
  for (std::uint32_t sweep = 0; sweep < 100; ++sweep) {
    heat_bath(by, gauge, {beta}, {1, 0, sweep});
    over_relax(by, gauge);
  }
  spinors<double> eta(where), psi(where);
  eta.set(where->where({0, 0, 0, 0}), 0, 1.0);
  std::printf("L,beta,workers,kappa,method,precision,steps,updates,seconds,residual,end\n");
  for (const double kappa : kappas) {
    solver with(by, gauge, {.kappa = kappa, .theta = {1, 0, 0, 0}});
    using kind = solver_options::method_kind;
    const stopwatch setup;
    with.set_up({});
    std::printf("%d,%g,%d,%g,setup,single,,,%.4f,,\n", L, beta, workers, kappa, setup.seconds());
    for (const auto method : {kind::multigrid, kind::cg, kind::bicgstab})
      for (const auto steps : {precision::in_half, precision::in_single, precision::in_double}) {
        if (method == kind::multigrid && steps != precision::in_single) continue;
        double best = 1e300;
        solver_result done{};
        for (int repeat = 0; repeat < 3; ++repeat) {
          const stopwatch time;
          done = with.solve(psi, eta, {.method = method, .steps = steps, .residual = 1e-10, .most_steps = 20000});
          best = std::min(best, time.seconds());
        }
        std::printf("%d,%g,%d,%g,%s,%s,%d,%d,%.4f,%.2g,%s\n", L, beta, workers, kappa,
                    method == kind::cg         ? "cg"
                    : method == kind::bicgstab ? "bicgstab"
                                               : "multigrid",
                    steps == precision::in_half     ? "half"
                    : steps == precision::in_single ? "single"
                                                    : "double",
                    done.steps, done.updates, best, done.residual,
                    done.end == solver_result::ending::converged ? "converged"
                    : done.end == solver_result::ending::stalled ? "stalled"
                                                                 : "out of steps");
        std::fflush(stdout);
      }
  }
}
