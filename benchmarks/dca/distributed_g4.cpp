// Two-particle functions spread over ranks with one worker each: how much of the transfer hides behind the sums,
// its bandwidth against MPI's own, and the sums against the memory's bandwidth. Medians of 7, slowest rank.
//   mpirun -n 2 bench_distributed_g4 [sites along an edge] [frequencies] [measurements]
#include "plaq/dca/measure/distributed_g4.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/mpi/library.hpp"
#include "plaq/task/backends.hpp"

using namespace plaq;
using namespace plaq::dca;

namespace {

constexpr int samples = 7;

const comm::communicator& world() {
  static const comm::communicator w = comm::world();
  return w;
}

comm::collectives& together() {
  static comm::collectives all(world());
  return all;
}

/// Of the slowest rank, for one call.
template <class Step>
double seconds(Step&& step) {
  together().barrier();
  const auto start = std::chrono::steady_clock::now();
  step();
  std::vector<double> t{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  together().all_reduce(t, comm::operation::max);
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
std::shared_ptr<const problem> some_problem(int edge, int window, bool pairing, std::vector<channel_request> channels) {
  auto p = std::make_shared<problem>();
  const int n = edge * edge;
  p->model.parameters = {1, 1, n, 1};
  p->model.momenta.size = n;
  for (int k = 0; k < n; ++k) {
    p->model.momenta.minus.push_back((edge - k % edge) % edge + edge * ((edge - k / edge) % edge));
    for (int r = 0; r < n; ++r) {
      p->model.momenta.sum.push_back((k % edge + r % edge) % edge + edge * ((k / edge + r / edge) % edge));
      p->model.momenta.fourier.push_back(
          std::polar(1., -2 * M_PI * ((k % edge) * (r % edge) + (k / edge) * (r / edge)) / edge));
    }
  }
  p->measured.window = p->measured.two_particle_frequencies = window;
  p->measured.pairing = pairing;
  p->measured.channels = std::move(channels);
  p->measured.orbit.resize(std::size_t(n) * n);
  std::iota(p->measured.orbit.begin(), p->measured.orbit.end(), 0);
  p->measured.g0_frequency.assign(std::size_t(n) * window, {0, -1});
  return p;
}

struct measured {
  two_frequency::planes up, down;
};

double alone(two_particle_sums& sums, const measured& g, int measurements) {
  sums.begin_bin();
  return seconds([&] {
    for (int m = 0; m < measurements; ++m) sums.accumulate(1, g.up, g.down, sums.measure_direct(g.up, g.down));
  });
}

/// Every rank runs one chain; own(chain) or others(chain) as tasks.
double on_all(auto& pool, auto&& own, auto&& others) {
  return seconds([&] {
    std::vector<decltype(pool.async("", [] {}))> running;
    for (int chain = 0; chain < world().size(); ++chain)
      running.push_back(pool.async("chain", [&, chain] { chain == world().rank() ? own(chain) : others(chain); }));
    for (auto& task : running) task.get();
  });
}

double spread(auto& pool, distributed_g4& by, const measured& g, int measurements) {
  return on_all(
      pool,
      [&](int chain) {
        distributed_g4::source source(by, chain);
        source.begin_bin();
        for (int m = 0; m < measurements; ++m) source.accumulate(1, g.up, g.down);
      },
      [&](int chain) { by.sum_remote(chain); });
}

/// The same messages with nothing to pack nor to sum.
double transfer(auto& pool, comm::messenger& messages, const distributed_g4& by, int measurements) {
  const int me = world().rank(), ranks = world().size();
  using buffers = std::array<std::vector<char>, 2>;
  using futures = std::array<task::future<comm::status>, 2>;
  return on_all(
      pool,
      [&](int chain) {
        std::vector<buffers> packets(static_cast<std::size_t>(ranks));
        std::vector<futures> going(packets.size());
        for (std::size_t r = 0; r < packets.size(); ++r)
          for (auto& p : packets[r]) p.resize(by.bytes_for(int(r)));
        for (int m = 0; m < measurements; ++m)
          for (int step = 1; step < ranks; ++step) {
            const std::size_t r = std::size_t((me + step) % ranks), turn = std::size_t(m % 2);
            if (going[r][turn].valid()) going[r][turn].get();
            going[r][turn] = messages.isend(packets[r][turn], int(r), chain);
          }
        for (auto& pair : going)
          for (auto& g : pair)
            if (g.valid()) g.get();
      },
      [&](int chain) {
        buffers packets;
        futures coming;
        for (auto& p : packets) p.resize(by.bytes_for(me));
        coming[0] = messages.irecv(packets[0], chain, chain);
        for (int m = 0; m < measurements; ++m) {
          const std::size_t here = std::size_t(m % 2);
          coming[here].get();
          if (m + 1 < measurements) coming[1 - here] = messages.irecv(packets[1 - here], chain, chain);
        }
      });
}

/// Bytes per second that a rank sends: MPI's ping-pong with the neighbour, and all ranks to all others at once.
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

/// Of `bytes` in all to the others.
double to_all(std::size_t bytes, int repeats) {
  const int me = world().rank(), n = world().size(), each = int(bytes) / (n - 1);
  std::vector<char> a(bytes), b(bytes);
  const double t = usual_seconds([&] {
    for (int i = 0; i < repeats; ++i)
      for (int step = 1; step < n; ++step)
        MPI_Sendrecv(&a[std::size_t((step - 1) * each)], each, MPI_BYTE, (me + step) % n, 0,
                     &b[std::size_t((step - 1) * each)], each, MPI_BYTE, (me + n - step) % n, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
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
  const double memory = triad();
  if (world().rank() == 0) {
    std::printf("%s, %d ranks, %d sites, %d frequencies, %.1f MB a measurement, triad %.1f GB/s a rank\n",
                comm::library_version().c_str(), ranks, edge * edge, window, 16e-6 * double(plane), memory / 1e9);
    std::printf("%10s | %8s %8s %10s %8s | %8s | %8s %10s %10s %10s\n", "", "alone", "together", "transfer", "hidden",
                "sums", "sent", "transfer", "ping-pong", "to all");
    std::printf("%10s | %8s %8s %10s %8s | %8s | %8s %32s\n", "function", "ms", "ms", "ms", "%", "GB/s", "MB",
                "GB/s that a rank sends");
  }
  task::options options;
  options.workers = 1;
  comm::messenger messages(world());
  std::vector<int> rank_of(static_cast<std::size_t>(ranks));
  std::iota(rank_of.begin(), rank_of.end(), 0);
  task::with_backend("fiber", options, [&](auto& pool) {
    for (const bool pairing : {true, false}) {
      const auto p = pairing ? some_problem(edge, window, true, {})
                             : some_problem(edge, window, false, {{channel::magnetic, 0, 0}});
      const two_frequency functions(1, p->model.momenta, p->measured.window, p->measured.g0_frequency);
      two_particle_sums sums(p->measured, functions);
      distributed_g4 by(messages, p->model, p->measured, rank_of);
      std::vector<double> without, with, only;
      for (int sample = 0; sample < samples; ++sample) {  // in turn: the machine may change its mind
        without.push_back(alone(sums, g, measurements));
        with.push_back(spread(pool, by, g, measurements));
        only.push_back(ranks > 1 ? transfer(pool, messages, by, measurements) : 0);
      }
      const char* name = pairing ? "pairing" : "magnetic";
      const double t = median(without), s = median(with), moving = median(only), each = 1e3 / measurements;
      // planes once, sums to and fro
      const double bytes =
          measurements * (16. * double(plane) + 8. * double(two_particle_layout(edge * edge, p->measured)[0].size()));
      std::size_t sent = 0;  // by rank 0, for one measurement
      for (int rank = 1; rank < ranks; ++rank) sent += by.bytes_for(rank);
      if (ranks == 1) {
        std::printf("%10s | %8.2f %8.2f %10s %8s | %8.1f |\n", name, t * each, s * each, "", "", bytes / t / 1e9);
        continue;
      }
      const double pong = ping_pong(by.bytes_for(1), measurements), all = to_all(sent, measurements);
      if (world().rank() == 0)
        std::printf("%10s | %8.2f %8.2f %10.2f %8.0f | %8.1f | %8.2f %10.2f %10.2f %10.2f\n", name, t * each, s * each,
                    moving * each, 100 * (1 - (s - t) / moving), bytes / t / 1e9, double(sent) / 1e6,
                    measurements * double(sent) / moving / 1e9, pong / 1e9, all / 1e9);
    }
  });
}
