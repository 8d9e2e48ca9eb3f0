// Energy of the Ising chain by Monte Carlo. Markov chains are tasks, dealt to ranks, and recorded; the energy has the
// same bits for any number of ranks and workers.
//   ising FOLDER [BACKEND [WORKERS]]     FOLDER: for the trace
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/task/task.hpp"
#include "plaq/trace/region.hpp"
#include "plaq/trace/session.hpp"

namespace {

constexpr int chains = 32, sites = 64, warm_up = 200, sweeps = 2000;
constexpr double beta = 0.7;  // of H = -sum_i s_i s_{i+1}

/// Energy per site of one Markov chain: heat bath, a number for each (chain, sweep, site).
double energy_of_chain(int chain) {
  const plaq::stream_id stream{.seed = 2, .i = static_cast<std::uint32_t>(chain)};
  std::array<int, sites> spin{};
  spin.fill(1);
  std::uint64_t draw = 0;
  long sum = 0;
  for (int sweep = 0; sweep < warm_up + sweeps; ++sweep) {
    for (int i = 0; i < sites; ++i) {
      const int field = spin[(i + 1) % sites] + spin[(i + sites - 1) % sites];
      const double up = 1 / (1 + std::exp(-2 * beta * field));
      spin[i] = plaq::unit_interval(plaq::random_words(stream, draw++)[0]) < up ? 1 : -1;
    }
    if (sweep >= warm_up)
      for (int i = 0; i < sites; ++i) sum -= spin[i] * spin[(i + 1) % sites];
  }
  return double(sum) / sweeps / sites;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) {
    std::fputs("ising FOLDER [BACKEND [WORKERS]]\n", stderr);
    return 2;
  }
  const char* backend = count > 2 ? arguments[2] : "fiber";
  const int workers = count > 3 ? std::atoi(arguments[3]) : 0;

  const auto world = plaq::comm::world();
  plaq::trace::session recording({.folder = arguments[1], .rank = world.rank()});

  const int first = chains * world.rank() / world.size(), last = chains * (world.rank() + 1) / world.size();
  std::vector<std::array<double, 2>> energies(last - first);  // of each chain: E, E^2
  plaq::task::with_backend(backend, {.workers = workers}, [&](auto& pool) {
    plaq::task::parallel_for(pool, "chains", first, last, [&](int chain) {
      const plaq::trace::region one("chain");
      const double energy = energy_of_chain(chain);
      energies[chain - first] = {energy, energy * energy};
    });
  });

  // Added in the order of the chains, whoever has them.
  std::vector<plaq::comm::piece<double>> mine;
  for (int chain = first; chain < last; ++chain) mine.push_back({chain, energies[chain - first]});
  std::array<double, 2> sum{};
  plaq::comm::collectives(world).ordered_sum<double>(mine, sum);

  recording.close();
  if (!recording.problem().empty()) throw plaq::runtime_failure(recording.problem());
  if (world.rank() == 0) {
    const double mean = sum[0] / chains, error = std::sqrt((sum[1] / chains - mean * mean) / (chains - 1));
    const double t = std::tanh(beta), exact = -(t + std::pow(t, sites - 1)) / (1 + std::pow(t, sites));
    std::printf("E/N = %.17g, error %.1g, exact %.17g\n%d chains on %d ranks; trace: %s\n", mean, error, exact, chains,
                world.size(), recording.path().c_str());
  }
} catch (const plaq::input_error& error) {
  std::fprintf(stderr, "ising: %s\n", error.what());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ising: %s\n", error.what());
  return 1;
}
