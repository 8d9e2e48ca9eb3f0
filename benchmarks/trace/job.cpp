// A job of the QMC solver whose instructions are to be counted, with and without a session that records it:
// valgrind --tool=callgrind --separate-threads=yes trace_job [measurements] [folder of the trace]
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "../../tests/dca/small_problem.hpp"
#include "plaq/dca/solver.hpp"
#include "plaq/trace/session.hpp"

using namespace plaq;

int main(int count, char** arguments) {
  // As the main job at its lowest temperature: 2x2, U = 6, T = 0.07, G4 at 16 positive frequencies.
  const dca::torus cluster{2, 2};
  const double beta = 1 / 0.07;
  const dca::two_level_bath bath(cluster, beta, -0.3, 1.2);
  auto p = std::make_shared<dca::problem>();
  p->model.parameters = {beta, 6, cluster.size(), 1};
  p->model.g0 = bath.table();
  p->model.difference = cluster.difference();
  p->model.momenta = cluster.momenta();
  for (int n = 0; n < 32; ++n) p->measured.odd_frequencies.push_back(2 * n + 1);
  p->measured.window = 16;
  p->measured.pairing = true;
  p->measured.orbit = {0, 1, 1, 2, 3, 4, 5, 6, 3, 5, 4, 6, 7, 8, 8, 9};  // (K, K') under the point group of the square
  p->measured.two_particle_frequencies = p->measured.window;
  p->measured.g0_frequency = bath.at_frequencies(p->measured.window);
  p->moves.block_length = 32;
  p->moves.proposals_per_sweep = 130;
  p->rules.warm_up_sweeps = 20;
  p->rules.bins = 2;
  p->rules.measurements_per_bin = (count > 1 ? std::atoi(arguments[1]) : 400) / 8;
  p->measured.histogram_size = 400;
  p->rules.seed = 5;

  dca::chain_queue chains;
  for (std::uint32_t c = 0; c < 4; ++c) {
    dca::chain_state fresh;
    fresh.number = c;
    chains.add(std::move(fresh));
  }
  chains.close();
  std::optional<trace::session> session;
  if (count > 2) session.emplace(trace::session_options{.folder = arguments[2]});
  dca::control control;
  dca::run_options how;
  how.backend = "os";
  how.pool.workers = 1;
  dca::run_chains(*p, chains, how, control);
  session.reset();
  std::printf("%llu measurements, last order %zu\n", static_cast<unsigned long long>(control.measurements),
              chains.take_complete().at(0).current.vertices.size());
}
