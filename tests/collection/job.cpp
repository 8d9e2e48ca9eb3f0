// A job over ranks that goes on from its checkpoint, whose elements move after every step, and what can happen to it.
//   collection_job FOLDER ROUNDS [memory | throw]
// Each round is a checkpoint. Rank 0 writes `sum`, whose bits show every value and the order in which they were mixed.
// memory: in the third round the last rank has room for little more, and its elements want much. throw: in the third
// round one element's step throws.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cells.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;
using namespace plaq::test;

namespace {

/// From now on this process gets so many bytes more.
void leave_room_for(std::size_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * std::size_t(::sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit{most, most};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) throw std::runtime_error("no limit can be set");
}

void run(const comm::communicator& world, const std::filesystem::path& folder, int rounds, const std::string& trouble) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    using field = collection<cell, index2>;
    const bool begun = std::filesystem::exists(folder / "cells.checkpoint");
    auto cells = begun ? std::make_unique<field>("cells", world, pool, hilbert_homes(all_cells), checkpoint{folder})
                       : std::make_unique<field>("cells", world, pool, hilbert_homes(all_cells), first);
    auto halo = cells->template make_port<double>("halo");
    const auto moves = [ranks = std::uint64_t(world.size())](auto& context) {
      context.move_to(int(drawn(1, context.index(), context.step()) % ranks));
    };
    for (int round = int(cells->steps() / 10); round < rounds; ++round) {
      if (round == 2 && trouble == "memory" && world.rank() == world.size() - 1) leave_room_for(std::size_t(1) << 28);
      for (int n = 0; n < 5; ++n) {
        cells->each("send", [=](cell& c, auto& context) {
          for (const auto& to : all_cells.faces(context.index())) context.send(halo, to.at, c.u);
          moves(context);
        });
        cells->each("mix", halo.of(4), [=, last = world.size() - 1](cell& c, auto& context) {
          for (auto& [from, u] : context.take(halo)) c.u = mixed(c.u, u);
          if (round == 2 && trouble == "throw" && context.index() == index2{3, 1}) throw std::runtime_error("no luck");
          if (round == 2 && trouble == "memory" && context.rank() == last)
            c.history.resize(std::size_t(1) << 27);  // 1 GiB
          moves(context);
        });
      }
      cells->save(folder);
    }
    auto sum = cells->reduce("sum", [](const cell& c) { return c.u; }, 1.0, bracket);
    cells->wait();
    if (world.rank() == 0) std::ofstream(folder / "sum") << std::hexfloat << sum.get();
  });
}

}  // namespace

int main(int count, char** arguments) {
  const auto world = comm::world();
  try {
    run(world, arguments[1], std::atoi(arguments[2]), count > 3 ? arguments[3] : "");
    return 0;
  } catch (const std::exception& error) {  // the same on every rank; who ends with 1 first ends all
    if (world.rank() != 0) return 0;
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
