// The ring of two-particle functions on ranks with one worker each: how much of the transfer hides behind the sums, its
// bandwidth against MPI's own, and the sums against the memory's bandwidth. Medians of 7, slowest rank.
//   mpirun -n 2 bench_ring [sites along an edge] [frequencies] [measurements]
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include "plaq/comm/communicator.hpp"
#include "plaq/dca/g4_ring.hpp"
#include "plaq/task/backends.hpp"

using namespace plaq;
using namespace plaq::dca;

namespace {

constexpr int samples = 7;

const comm::communicator& world() {
  static const comm::communicator w = comm::communicator::world();
  return w;
}

/// Of the slowest rank, for one call.
template <class Step>
double seconds(Step&& step) {
  world().barrier();
  const auto start = std::chrono::steady_clock::now();
  step();
  std::vector<double> t{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  world().all_reduce(t, comm::operation::max);
  return t[0];
}

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

template <class Step>
double usual_seconds(Step&& step) {
  std::vector<double> times;
  for (int sample = 0; sample < samples; ++sample) times.push_back(seconds(step));
  return median(times);
}

/// edge x edge sites without interaction between them; only sizes matter here.
std::shared_ptr<const problem> some_problem(int edge, int window, bool pairing,
                                            std::vector<channel_request> channels) {
  auto p = std::make_shared<problem>();
  const int n = edge * edge;
  p->parameters = {1, 1, n, 1};
  p->momenta.size = n;
  for (int k = 0; k < n; ++k) {
    p->momenta.minus.push_back((edge - k % edge) % edge + edge * ((edge - k / edge) % edge));
    for (int r = 0; r < n; ++r) {
      p->momenta.sum.push_back((k % edge + r % edge) % edge + edge * ((k / edge + r / edge) % edge));
      p->momenta.fourier.push_back(
          std::polar(1., -2 * M_PI * ((k % edge) * (r % edge) + (k / edge) * (r / edge)) / edge));
    }
  }
  p->window = p->two_particle_frequencies = window;
  p->pairing = pairing;
  p->channels = std::move(channels);
  p->orbit.resize(std::size_t(n) * n);
  std::iota(p->orbit.begin(), p->orbit.end(), 0);
  p->g0_frequency.assign(std::size_t(n) * window, {0, -1});
  return p;
}

struct measured {
  two_frequency::planes up, down;
};

double alone(two_particle_sums& sums, const measured& g, int measurements) {
  return seconds([&] {
    sums.begin_bin();
    for (int m = 0; m < measurements; ++m) sums.accumulate(1, g.up, g.down);
  });
}

/// Every rank measures in one chain; with no function in the problem the measurements only travel.
double on_ring(auto& pool, comm::messenger& messages, std::shared_ptr<const problem> p, const measured& g,
               int measurements) {
  std::vector<int> rank_of(std::size_t(world().size()));
  std::iota(rank_of.begin(), rank_of.end(), 0);
  g4_ring ring(messages, p, rank_of);
  return seconds([&] {
    std::vector<decltype(pool.async("", [] {}))> running;
    for (int chain = 0; chain < ring.chains(); ++chain)
      running.push_back(pool.async("chain", [&, chain] {
        if (!ring.runs_here(chain)) return ring.follow(chain);
        g4_ring::source source(ring, chain);
        source.begin_bin();
        for (int m = 0; m < measurements; ++m) source.accumulate(1, g.up, g.down);
      }));
    for (auto& task : running) task.get();
  });
}

/// Bytes per second that a rank sends: MPI's ping-pong with the neighbour, and all ranks passing on at once.
double ping_pong(std::size_t bytes, int repeats) {
  std::vector<char> a(bytes), b(bytes);
  const int me = world().rank(), peer = me ^ 1;
  const double t = usual_seconds([&] {
    for (int i = 0; i < repeats && me < 2 && peer < world().size(); ++i)
      for (int turn = 0; turn < 2; ++turn)
        if (turn == me)
          MPI_Send(a.data(), int(bytes), MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        else
          MPI_Recv(b.data(), int(bytes), MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
  return 2. * repeats * double(bytes) / t;
}

double pass_on(std::size_t bytes, int repeats) {
  std::vector<char> a(bytes), b(bytes);
  const int me = world().rank(), n = world().size();
  const double t = usual_seconds([&] {
    for (int i = 0; i < repeats; ++i)
      MPI_Sendrecv(a.data(), int(bytes), MPI_BYTE, (me + 1) % n, 0, b.data(), int(bytes), MPI_BYTE,
                   (me + n - 1) % n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
  return repeats * double(bytes) / t;
}

/// Bytes per second of a = b + s c, all ranks at once; what the caches fetch before they write is not counted.
double triad() {
  const std::size_t n = 1 << 23;
  std::vector<double> a(n, 0.), b(n, 1.), c(n, 2.);
  const double t = usual_seconds([&] {
    for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + 3. * c[i];
  });
  return a[n / 2] == 7. ? 24. * double(n) / t : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const int edge = argument(1, 4), window = argument(2, 32), measurements = argument(3, 20);
  const int ranks = world().size();
  const std::size_t plane = 2 * std::size_t(edge * edge * window) * std::size_t(edge * edge * window);
  measured g;
  for (auto* values : {&g.up.re, &g.up.im, &g.down.re, &g.down.im}) {
    values->resize(plane);
    for (std::size_t i = 0; i < plane; ++i) (*values)[i] = float(i % 97) / 97;
  }
  const std::size_t packet = (2 + 4 * plane) * sizeof(float);
  const double memory = triad();
  const double pong = ranks > 1 ? ping_pong(packet, measurements) : 0;
  const double passing = ranks > 1 ? pass_on(packet, measurements) : 0;
  if (world().rank() == 0) {
    std::printf("%s, %d ranks, %d sites, %d frequencies, packets of %.1f MB, triad %.1f GB/s a rank\n",
                comm::library_version().c_str(), ranks, edge * edge, window, double(packet) / 1e6, memory / 1e9);
    std::printf("%10s | %8s %8s %10s %8s | %8s | %10s %10s %10s\n", "", "alone", "ring", "transfer", "hidden", "sums",
                "ring", "ping-pong", "passing");
    std::printf("%10s | %8s %8s %10s %8s | %8s | %32s\n", "function", "ms", "ms", "ms", "%", "GB/s",
                "GB/s that a rank sends");
  }
  task::options options;
  options.workers = 1;
  comm::messenger messages(world());
  task::with_backend("fiber", options, [&](auto& pool) {
    const auto nothing = some_problem(edge, window, false, {});
    for (const bool pairing : {true, false}) {
      const auto p = pairing ? some_problem(edge, window, true, {})
                             : some_problem(edge, window, false, {{channel::magnetic, 0, 0}});
      const two_frequency functions(1, p->momenta, p->window, p->g0_frequency);
      two_particle_sums sums(*p, functions);
      std::vector<double> without, with, only;
      for (int sample = 0; sample < samples; ++sample) {  // in turn: the machine may change its mind
        without.push_back(alone(sums, g, measurements));
        with.push_back(on_ring(pool, messages, p, g, measurements));
        only.push_back(on_ring(pool, messages, nothing, g, measurements));
      }
      const double t = median(without), r = median(with), transfer = median(only), each = 1e3 / measurements;
      // planes once, sums to and fro
      const double bytes = measurements * (16. * double(plane) + 8. * double(two_particle_layout(*p, {})[0].size));
      if (world().rank() == 0)
        std::printf("%10s | %8.2f %8.2f %10.2f %8.0f | %8.1f | %10.2f %10.2f %10.2f\n", pairing ? "pairing" : "magnetic",
                    t * each, r * each, transfer * each, ranks > 1 ? 100 * (1 - (r - t) / transfer) : 100., bytes / t / 1e9,
                    (ranks - 1) * measurements * double(packet) / transfer / 1e9, pong / 1e9, passing / 1e9);
    }
  });
}
