// Messages as futures against bare MPI, in one run. On one rank: a send and a receive to oneself, alone and with
// many receives pending. On two: ping-pong. Nanoseconds per pair or round trip, median of 9.
//   mpirun -n 1 bench_messages     mpirun -n 2 bench_messages
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/comm/mpi/library.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;
using clock_type = std::chrono::steady_clock;

namespace {

template <class Step>
double nanoseconds(int repeats, Step&& step) {
  std::vector<double> times;
  for (int sample = 0; sample < 9; ++sample) {
    const auto start = clock_type::now();
    for (int i = 0; i < repeats; ++i) step();
    times.push_back(std::chrono::duration<double, std::nano>(clock_type::now() - start).count() / repeats);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void bare(MPI_Comm comm, int me, int peer, std::vector<char>& out, std::vector<char>& in) {
  MPI_Request requests[2];
  const auto receive = [&](MPI_Request* r) { MPI_Irecv(in.data(), int(in.size()), MPI_BYTE, peer, 1, comm, r); };
  const auto send = [&](MPI_Request* r) { MPI_Isend(out.data(), int(out.size()), MPI_BYTE, peer, 1, comm, r); };
  if (me == peer) {
    receive(&requests[0]);
    send(&requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    for (int turn = 0; turn < 2; ++turn) {
      if (turn == me)
        send(requests);
      else
        receive(requests);
      MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
  }
}

void futures(comm::messenger& m, int me, int peer, std::vector<char>& out, std::vector<char>& in) {
  if (me == peer) {
    auto coming = m.irecv(in, peer, 1);
    m.isend(out, peer, 1).get();
    coming.get();
  } else {
    for (int turn = 0; turn < 2; ++turn)
      if (turn == me)
        m.isend(out, peer, 1).get();
      else
        m.irecv(in, peer, 1).get();
  }
}

}  // namespace

int main() {
  const auto world = comm::world();
  comm::collectives together(world);
  const int me = world.rank(), peer = world.size() == 1 ? 0 : 1 - me;
  MPI_Comm raw;
  MPI_Comm_dup(MPI_COMM_WORLD, &raw);
  if (me == 0) std::printf("%s, thread level %s\n", comm::library_version().c_str(), comm::thread_level().c_str());
  if (me == 0)
    std::printf("%8s %8s | %10s | %10s %10s %10s\n", "pending", "bytes", "bare MPI", "thread", "fiber", "os");
  for (int pending : {0, 100, 1000, 10000})
    for (std::size_t size : {8, 4096, 65536}) {
      if (pending > 0 && size > 8) continue;
      const int repeats = world.size() == 1 ? (size > 4096 ? 500 : 5000) : 200;
      std::vector<char> out(size), in(size), never(8);
      comm::messenger m(world);
      std::vector<task::future<comm::status>> waiting;  // from the other rank, which sends none of them
      for (int i = 0; i < pending; ++i) waiting.push_back(m.irecv(never, peer, 2 + i));
      const double mpi = nanoseconds(repeats, [&] { bare(raw, me, peer, out, in); });
      const double thread = nanoseconds(repeats, [&] { futures(m, me, peer, out, in); });
      const auto on_pool = [&] { return nanoseconds(repeats, [&] { futures(m, me, peer, out, in); }); };
      double pool[2];
      for (int b = 0; b < 2; ++b)
        pool[b] = task::with_backend(b ? "os" : "fiber", {.workers = 1},
                                     [&](auto& workers) { return workers.async("messages", on_pool).get(); });
      if (me == 0)
        std::printf("%8d %8zu | %10.0f | %10.0f %10.0f %10.0f\n", pending, size, mpi, thread, pool[0], pool[1]);
      together.barrier();
    }
  MPI_Comm_free(&raw);
}
