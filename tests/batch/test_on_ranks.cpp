// Runs on any number of ranks: rank 0 has all pieces to begin with and gives some away while they run.
#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

#include "patches.hpp"
#include "plaq/batch/run.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"

namespace plaq::batch {
namespace {

TEST(batch_on_ranks, pieces_that_move_come_to_the_same_sums) {
  static const comm::communicator world = comm::world();
  static comm::collectives together(world);
  constexpr int patches = 13;
  queue<patch> pieces;
  control c;
  options how;
  how.pool.workers = 2;
  how.in_flight = 1;
  if (world.rank() == 0)
    for (const patch& p : fresh(patches)) pieces.add(p);
  // There, the first one is called back after a step, and the second waits until pieces have moved.
  if (world.rank() == 0) pieces.recall(1);
  std::latch second_is_there{1}, have_moved{1};
  std::jthread running([&] {
    run(pieces, how, c, "patch", [&](auto&, patch& p, const another_step& another) {
      if (p.number == 1) {
        second_is_there.count_down();
        have_moved.wait();
      }
      while (p.steps < last_step && another()) push(p);
      return p.steps == last_step;
    });
  });
  if (world.rank() == 0) second_is_there.wait();
  for (int rank = 1; rank < world.size(); ++rank) {
    std::vector<patch> two(2);
    if (world.rank() == 0) {
      two = pieces.take(2);
      EXPECT_EQ(two.at(0).steps, rank == 1 ? 1 : 0);
    }
    together.broadcast(two);
    if (world.rank() == rank)
      for (const patch& p : two) pieces.add(p);
  }
  have_moved.count_down();
  pieces.recall(0);
  pieces.close();
  running.join();
  std::vector<patch> here = pieces.take_complete();
  EXPECT_EQ(pieces.state().waiting, 0);
  if (world.rank() > 0) {
    EXPECT_EQ(here.size(), 2u);
  }
  const auto everywhere = together.all_gather_any(here);
  EXPECT_EQ(sums(everywhere.values), in_a_loop(patches));
}

}  // namespace
}  // namespace plaq::batch
